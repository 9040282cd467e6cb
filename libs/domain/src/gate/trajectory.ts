import type { Condition, Score, Signature, Tier } from '#contracts';
import { canFire, gateSettings, metricsOfTier, thresholdOf, type GateConfig } from './config.js';
import { foldValue, type GateState } from './gate.js';

/** A problem that holds until evidence clears it (BEHAVIOUR 2.4). `askedBy`: the tier 1 problems that led to a tier 2 breach. */
export interface Standing {
  readonly signature: Signature;
  readonly track: string;
  readonly askedBy?: readonly Signature[];
}

/** A session after some turn. Tracks are keyed `metric@source`. */
export interface Trajectory {
  readonly tracks: Readonly<Record<string, GateState>>;
  readonly standing: readonly Standing[];
}

export const untouched: Trajectory = { tracks: {}, standing: [] };

/** What scoring has answered for one turn, per tier; within a tier, scores are in trace order. */
export interface TierAnswer {
  readonly answer: number;
  readonly pending: boolean;
  readonly scores: readonly Score[];
}
export type Evidence = Readonly<Partial<Record<Tier, TierAnswer>>>;

export interface FiredCondition {
  readonly tier: Tier;
  readonly condition: Condition;
  readonly metric: string;
  readonly traceId: string | null;
}

export interface TurnVerdict {
  readonly after: Trajectory;
  readonly fired: readonly FiredCondition[];
  /** Tiers whose scores count for this turn, in order. */
  readonly asked: readonly Tier[];
}

/**
 * Folds one turn into a session: tier 1 through the gate, then the tiers that it asks for.
 * Pure: the same trajectory, evidence and config give the same verdict, whatever came in which order.
 */
export function foldTurn(before: Trajectory, evidence: Evidence, config: GateConfig): TurnVerdict {
  const fold = new Fold(before, config);
  if (evidence[0] !== undefined) fold.breaches(0, evidence[0].scores);
  const asked: Tier[] = evidence[0] === undefined ? [1] : [0, 1];
  fold.gate(evidence[1]?.scores ?? []);
  if (fold.firedIn(1) && metricsOfTier(config, 2).length > 0) {
    asked.push(2);
    fold.breaches(2, evidence[2]?.scores ?? []);
    if (fold.firedIn(2) && metricsOfTier(config, 3).length > 0) asked.push(3);
  }
  return { after: fold.result(), fired: fold.fired, asked };
}

class Fold {
  readonly fired: FiredCondition[] = [];
  private readonly tracks: Record<string, GateState>;
  private standing: Standing[];

  constructor(
    before: Trajectory,
    private readonly config: GateConfig,
  ) {
    this.tracks = { ...before.tracks };
    this.standing = [...before.standing];
  }

  firedIn(tier: Tier): boolean {
    return this.fired.some((one) => one.tier === tier);
  }

  result(): Trajectory {
    return { tracks: this.tracks, standing: this.standing };
  }

  /** Tier 1: each value through its gate, in trace order; then tier 2 problems whose reason is gone fall away. */
  gate(scores: readonly Score[]): void {
    for (const score of scores) if (score.status === 'scored' && score.value !== null) this.gateOne(score, score.value);
    this.standing = this.standing.filter(({ askedBy }) => askedBy?.some((signature) => this.stands(signature)) ?? true);
  }

  private gateOne(score: Score, value: number): void {
    const track = `${score.metric}@${score.source}`;
    const settings = gateSettings(this.config, score.metric, score.source);
    const before = this.tracks[track] ?? null;
    const { state, stalled, regressed } = foldValue(before, value, settings);
    this.tracks[track] = state;
    if (before !== null && (state.peak > before.peak || state.peak >= settings.gate_target))
      this.clear(`stall:${score.metric}`, track);
    if (before !== null && !(value < before.peak - settings.gate_drop)) this.clear(`regression:${score.metric}`, track);
    if (!canFire(this.config, score.metric, score.source)) return;
    if (stalled) this.fire({ tier: 1, condition: 'stall', metric: score.metric, traceId: score.trace_id }, { track });
    if (regressed) this.fire({ tier: 1, condition: 'regression', metric: score.metric, traceId: score.trace_id }, { track });
  }

  /** Tiers 0 and 2: a value below its threshold breaches; one at or above it clears. Not measured is not cleared. */
  breaches(tier: 0 | 2, scores: readonly Score[]): void {
    for (const { metric, status, value, trace_id: traceId } of scores) {
      if (status !== 'scored' || value === null) continue;
      const track = `tier${tier}`;
      if (value < thresholdOf(this.config, metric))
        this.fire({ tier, condition: 'breach', metric, traceId }, this.breachOf(tier, track, metric));
      else this.clear(`breach:${metric}`, track);
    }
  }

  private breachOf(tier: 0 | 2, track: string, metric: string): Omit<Standing, 'signature'> {
    if (tier === 0) return { track };
    const earlier = this.standing.find((one) => one.signature === `breach:${metric}` && one.track === track)?.askedBy ?? [];
    const now = this.fired.filter((one) => one.tier === 1).map((one) => signatureOf(one));
    return { track, askedBy: [...new Set([...earlier, ...now])].sort() };
  }

  private fire(fired: FiredCondition, standing: Omit<Standing, 'signature'>): void {
    this.fired.push(fired);
    const signature = signatureOf(fired);
    this.clear(signature, standing.track);
    this.standing.push({ signature, ...standing });
  }

  private stands(signature: Signature): boolean {
    return this.standing.some((one) => one.signature === signature);
  }

  private clear(signature: Signature, track: string): void {
    this.standing = this.standing.filter((one) => one.signature !== signature || one.track !== track);
  }
}

export function signatureOf({ condition, metric }: { condition: Condition; metric: string }): Signature {
  return `${condition}:${metric}`;
}

/** The standing set as a report shows it: distinct, sorted. */
export function standingSignatures({ standing }: Trajectory): Signature[] {
  return [...new Set(standing.map(({ signature }) => signature))].sort();
}
