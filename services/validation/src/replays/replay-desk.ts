import { Injectable, Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { replayRequested, tierRequested, type ProjectSettings, type Tier, type ToolTape } from '#contracts';
import { derivedId, replaySession, sessionKey } from '#domain/ids';
import { tapeOf } from '#domain/tape';
import { normaliseTurn, parseJson } from '#ingest';
import { SettingsDirectory, UnitOfWork, type Transaction } from '#persistence';
import { CaseStore } from '../postgres/case-store.js';
import { ReplayStore, type NewReplay, type ReplayArm, type RunReplay } from '../postgres/replay-store.js';
import { measuredScores } from './measured-scores.js';

/** What a replay is for. */
export interface ReplayOf {
  readonly project: string;
  readonly case_id: string;
  readonly arm: ReplayArm;
  readonly rule: string | null;
  readonly pair: string | null;
  readonly regression: string | null;
}

/** Tiers that a replay is scored on. */
const SCORED: readonly Tier[] = [0, 1, 2];

/** One replay from its request to its scores, whoever it is for. */
@Injectable()
export class ReplayDesk {
  private readonly logger = new Logger(ReplayDesk.name);

  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly replays: ReplayStore,
    private readonly cases: CaseStore,
  ) {}

  /** Asks a worker to run a case. Null when the case is gone, or has nothing to replay. */
  async request(tx: Transaction, of: ReplayOf): Promise<string | null> {
    const found = await this.cases.inputOf((sql, parameters) => tx.query(sql, parameters), of.case_id);
    if (found === undefined) return null;
    const replay = newReplay(of, await this.settings.of(of.project));
    const { deadline, env_deadline } = await this.replays.insert(tx, replay);
    tx.emit({
      event: replayRequested,
      id: derivedId('replay.requested', replay.replay),
      project: of.project,
      payload: {
        ...{
          replay_id: replay.replay,
          case_id: of.case_id,
          pair: of.pair,
          replay_input: found.input,
          session_id: replay.session,
        },
        ...{ candidate_rule_id: of.arm === 'with' ? of.rule : null, tape: tapeOfBody(found.body), deadline, env_deadline },
      },
    });
    return replay.replay;
  }

  /** Moves every replay on that time or scores have moved. */
  async look(): Promise<void> {
    const read = this.work.read.bind(this.work);
    await this.work.run(async (tx) => {
      for (const { replay, project, pair, regression } of await this.replays.expire(tx))
        tx.journal({
          id: derivedId('replay_expired', replay),
          project,
          type: 'replay_expired',
          doc: { replay, pair, regression },
        });
    });
    for (const one of await this.replays.finished(read)) await this.askForScores(one);
    for (const { replay, answers } of await this.replays.measured(read))
      await this.work.run((tx) => this.replays.saveScores(tx, replay, measuredScores(answers.flatMap(({ scores }) => scores))));
  }

  private async askForScores({ replay, project, s, session, t, stored_t: stored, settled, overdue }: RunReplay): Promise<void> {
    const known = stored !== null && (t !== null || settled);
    if (!known && !overdue) return;
    await this.work.run(async (tx) => {
      if (stored === null) return this.replays.giveUp(tx, replay, 'no_turn');
      if (!(await this.replays.beginScoring(tx, replay, stored))) return;
      for (const tier of SCORED) {
        const id = derivedId('tier.requested', s, stored, tier);
        tx.emit({ event: tierRequested, id, project, payload: { session_id: session, turn_index: stored, tier } });
      }
    });
    this.logger.debug(`the replay ${replay} has run`);
  }
}

/** The tool calls of the captured turn; null where there is no turn, or no call in it. */
function tapeOfBody(body: Buffer | null): ToolTape | null {
  const turn = body === null ? null : normaliseTurn(parseJson(body).value);
  if (turn?.ok !== true) return null;
  const tape = tapeOf(turn.turn);
  return tape.calls.length === 0 ? null : tape;
}

function newReplay(of: ReplayOf, settings: ProjectSettings): NewReplay {
  const replay = `p-${randomBytes(9).toString('hex')}`;
  const session = replaySession(replay);
  return {
    ...of,
    ...{ replay, session, s: sessionKey(of.project, session) },
    ...{ timeout_s: settings.replay_timeout_s, env_wait_s: settings.replay_env_wait_timeout_s },
  };
}
