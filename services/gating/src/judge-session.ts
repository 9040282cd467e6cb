import { isDeepStrictEqual } from 'node:util';
import type { Report, Tier, TraceScored } from '#contracts';
import type { Evidence, GateConfig, TierAnswer, Trajectory } from '#domain/gate';
import { contentHash } from '#domain/ids';
import { refold, type BlockedTurn, type EvaluatedTurn, type TurnDecision } from '#domain/report';

/** An answer of scoring for one turn and tier. */
export type Answer = TraceScored;

/** A stored turn, as gating keeps it. */
export interface StoredTurn {
  readonly t: number;
  readonly acceptedAt: number;
  readonly config: string;
  readonly evidence: Evidence;
  readonly signals: TraceScored['signals'];
  readonly partial: boolean;
  readonly skipped: string | null;
  readonly folded: boolean;
  readonly requested: readonly Tier[];
  readonly revision: number;
  readonly digest: string;
  readonly state: Trajectory;
}

/** What is known of a session before a batch touches it. */
export interface KnownSession {
  readonly session: string;
  readonly lastTurn: number;
  /** The session before the first of `turns`; its newest decided state when `turns` is empty. */
  readonly before: Trajectory;
  /** Stored turns from the first one that must be decided again, in order. */
  readonly turns: readonly StoredTurn[];
  /** Turns before this one are summarised: later arrivals there are stored, not folded. Null: nothing is. */
  readonly horizon: number | null;
}

export interface JudgedTurn extends StoredTurn {
  readonly decision: TurnDecision | null;
  /** Tiers to ask for now. */
  readonly request: readonly Tier[];
}

export interface SessionVerdict {
  /** The session after its last decided turn. */
  readonly head: Trajectory;
  readonly lastTurn: number;
  /** The turn that waits for a tier, when there is one: what comes after it is stored and decided with it. */
  readonly blocked: number | null;
  /** Rows to write: every turn whose facts or decision changed. */
  readonly rows: readonly JudgedTurn[];
  /** The first turn whose report changed. */
  readonly changedFrom: number | null;
  readonly tooLate: readonly number[];
}

/** Adds answers to a session's facts and decides again from the first turn that they change. Pure; null when nothing is new. */
export function judgeSession(
  known: KnownSession,
  answers: readonly Answer[],
  configs: ReadonlyMap<string, GateConfig>,
): SessionVerdict | null {
  const stored = new Map<number, StoredTurn>(known.turns.map((turn) => [turn.t, turn]));
  const turns = new Map(stored);
  const touched = new Set<number>();
  for (const answer of answers) if (addAnswer(turns, answer, known.horizon)) touched.add(answer.turn_index);
  if (touched.size === 0) return null;
  const ordered = [...turns.values()].sort((a, b) => a.t - b.t);
  const newest = Math.max(known.lastTurn, ...ordered.map(({ t }) => t));
  const { decisions, after, blocked } = refold({
    before: known.before,
    newest,
    turns: ordered.map((turn) => evaluated(turn, known.session, configs)),
    digestOf: digestOfReport,
  });
  const rows = ordered.map((turn) => judged(turn, decisions, blocked));
  return {
    head: after,
    lastTurn: newest,
    blocked: blocked?.turn ?? null,
    rows: rows.filter((row) => touched.has(row.t) || differs(row, stored.get(row.t))),
    changedFrom: decisions.find(({ publish, correctedQuietly }) => publish || correctedQuietly)?.turn ?? null,
    tooLate: ordered.filter(({ t, folded }) => !folded && !stored.has(t)).map(({ t }) => t),
  };
}

function judged(turn: StoredTurn, decisions: readonly TurnDecision[], blocked: BlockedTurn | null): JudgedTurn {
  const decision = decisions.find((one) => one.turn === turn.t) ?? null;
  if (blocked?.turn !== turn.t) return { ...turn, decision, request: [] };
  return { ...turn, requested: blocked.requested, decision, request: blocked.request };
}

/** The highest answer of a tier wins; one that is known or older changes nothing. */
function addAnswer(turns: Map<number, StoredTurn>, answer: Answer, horizon: number | null): boolean {
  const { turn_index: t, tier } = answer;
  const turn = turns.get(t) ?? newTurn(answer, horizon);
  if ((turn.evidence[tier]?.answer ?? 0) >= answer.answer) return false;
  const given: TierAnswer = { answer: answer.answer, pending: answer.pending, scores: answer.scores };
  const first = tier === 1 ? { signals: answer.signals, partial: answer.partial, skipped: answer.skipped } : {};
  turns.set(t, { ...turn, ...first, evidence: { ...turn.evidence, [tier]: given } });
  return true;
}

function newTurn({ turn_index: t, accepted_at: acceptedAt, config }: Answer, horizon: number | null): StoredTurn {
  return {
    ...{ t, acceptedAt, config, evidence: {}, signals: [], partial: false, skipped: null },
    ...{ folded: horizon === null || t >= horizon, requested: [], revision: 0, digest: '', state: { tracks: {}, standing: [] } },
  };
}

function evaluated(turn: StoredTurn, session: string, configs: ReadonlyMap<string, GateConfig>): EvaluatedTurn {
  const config = configs.get(turn.config);
  if (config === undefined) throw new Error(`the configuration ${turn.config} of a turn is not stored`);
  const { t, acceptedAt, partial, skipped, signals, evidence, folded, requested, revision, digest } = turn;
  return {
    facts: { session, turn: t, acceptedAt, partial, skipped, signals },
    evidence,
    config,
    folded,
    requested,
    revision,
    digest,
  };
}

function digestOfReport(report: Omit<Report, 'revision'>): string {
  return contentHash(JSON.stringify(report));
}

function differs(row: JudgedTurn, before: StoredTurn | undefined): boolean {
  if (before === undefined || row.request.length > 0) return true;
  const { decision } = row;
  if (decision === null) return false;
  return (
    decision.digest !== before.digest || decision.revision !== before.revision || !isDeepStrictEqual(decision.after, before.state)
  );
}
