import type { Tier, TraceSignal } from '#contracts';
import type { Evidence, GateConfig, Trajectory } from '#domain/gate';
import { contentHash } from '#domain/ids';
import { refold, type Refold } from '#domain/report';
import type { Reader } from './postgres/reader.js';

/** A row of `gating.turn_evals` with the names of its session. */
export interface StoredTurn {
  readonly project: string;
  readonly session: string;
  readonly s: string;
  readonly t: number;
  readonly accepted_us: number;
  readonly config: string;
  readonly evidence: Evidence;
  readonly signals: readonly TraceSignal[];
  readonly partial: boolean;
  readonly skipped: string | null;
  readonly state: Trajectory;
  readonly fired: readonly string[];
  readonly standing: readonly string[];
  readonly measured: boolean;
  readonly requested: number;
  readonly rev: number;
  readonly digest: string;
  readonly folded: boolean;
}

/** The turns of every session, or of one project's, in order of (s, t). */
export function storedTurns(reader: Reader, project?: string): AsyncGenerator<StoredTurn> {
  return reader.rows<StoredTurn>(
    `SELECT h.project, h.session, e.s, e.t, e.accepted_us, e.config, e.evidence, e.signals, e.partial, e.skipped, e.state, e.fired, e.standing, e.measured,
       e.requested, e.rev, e.digest, e.folded
     FROM gating.turn_evals e JOIN gating.heads h USING (s) WHERE $1::text IS NULL OR h.project = $1 ORDER BY e.s, e.t`,
    [project ?? null],
  );
}

export async function storedConfigs(reader: Reader): Promise<Map<string, GateConfig>> {
  const rows = await reader.query<{ id: string; doc: GateConfig }>('SELECT id, doc FROM scoring.configs');
  return new Map(rows.map(({ id, doc }) => [id, doc]));
}

/** Decides one stored turn again, from the trajectory before it, as if nothing had been said about it yet. */
export function decideAgain(before: Trajectory, turn: StoredTurn, config: GateConfig): Refold {
  const { session, t, accepted_us: acceptedAt, partial, skipped, signals, evidence } = turn;
  const facts = { session, turn: t, acceptedAt, partial, skipped, signals };
  return refold({
    before,
    newest: t,
    turns: [{ facts, evidence, config, folded: true, requested: [], revision: 0, digest: '' }],
    digestOf: (report) => contentHash(JSON.stringify(report)),
  });
}

/** Tiers are kept as bits: tier 2 is 4, tier 3 is 8. */
export function wasRequested(requested: number, tier: Tier): boolean {
  return (requested & (1 << tier)) !== 0;
}
