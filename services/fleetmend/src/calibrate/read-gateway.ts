import type { EffectiveSettings, ProjectSettings, StoredScores } from '#contracts';
import type { StoredSession } from '#domain/calibration';
import { openGateway, type GatewayOptions } from '../http/gateway.js';
import { readPages } from '../http/pages.js';

export interface ScoresFilter {
  readonly metric?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** What calibration works on. */
export interface Collected {
  readonly source: 'history' | 'file';
  readonly sessions: readonly StoredSession[];
  readonly settings: ProjectSettings;
  /** What the eval set says: whether the sessions that it has cases of failed. */
  readonly cases: ReadonlyMap<string, boolean>;
  /** Sessions of which only the newest turns are here. */
  readonly cut: number;
}

/** Sessions a page: one of 500 turns is about 50 KiB. */
const PAGE = 100;

/** Everything stored that the filter lets through, with the settings in force. */
export async function readFromGateway(options: GatewayOptions, filter: ScoresFilter): Promise<Collected> {
  const gateway = await openGateway(options);
  const { settings } = await gateway.get<EffectiveSettings>('/v1/settings');
  const { items } = await readPages<StoredScores>(gateway, '/v1/scores', { ...filter }, { all: true, limit: PAGE });
  return {
    source: 'history',
    sessions: items.map(({ session_id: session, last_turn_index: last, tracks }) => ({ session, lastTurn: last ?? 0, tracks })),
    settings,
    cases: new Map(
      items.flatMap(({ session_id: session, eval_case: kind }): [string, boolean][] =>
        kind === null ? [] : [[session, kind === 'failure']],
      ),
    ),
    cut: items.filter(({ cut }) => cut).length,
  };
}
