/** What a source's values mean, measured on recorded conversations (docs/coherence.md). A value says nothing without its scale. */
export interface CoherenceScale {
  /** 5 %, 50 % and 95 % quantiles of requests with their own answers. */
  readonly matched: readonly [number, number, number];
  /** The same of requests with answers to something else, of the same business. */
  readonly beside: readonly [number, number, number];
  /** The chance that a request's own answer is nearer to it than another one: 0.5 is guessing. */
  readonly auc: number;
  /**
   * Gate settings of the source. Target: what the peaks of 95 % of ordinary conversations reach. Drop: the least multiple of 0.05
   * by which at most 5 % of them fall below their peak.
   */
  readonly gate: { readonly gate_target: number; readonly gate_drop: number };
}

export const LEXICAL_SCALE: CoherenceScale = {
  matched: [0.12, 0.34, 0.6],
  beside: [0.08, 0.24, 0.41],
  auc: 0.729,
  gate: { gate_target: 0.33, gate_drop: 0.55 },
};

/** Per embedding model, by its name in settings. Models behind an endpoint are measured where they are used, not here. */
const EMBEDDING_SCALES: ReadonlyMap<string, CoherenceScale> = new Map([
  [
    'local',
    { matched: [0.24, 0.56, 0.77], beside: [0.15, 0.39, 0.63], auc: 0.745, gate: { gate_target: 0.61, gate_drop: 0.65 } },
  ],
]);

/** The scale of an embedding model; null when nobody measured it: then its values are shown and do not gate. */
export function embeddingScale(model: string): CoherenceScale | null {
  return EMBEDDING_SCALES.get(model) ?? null;
}

/** The calibrated gate_target of `coherence@embedding` for this model, in [0, 1]; null when its scale is unknown. */
export function embeddingTarget(model: string): number | null {
  return embeddingScale(model)?.gate.gate_target ?? null;
}
