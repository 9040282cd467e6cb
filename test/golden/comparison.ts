/** One parsed line of a golden file: inputs and right answers. */
export type GoldenLine = Readonly<Record<string, unknown>>;

/** What the line says is right, and what our code says, member by member. */
export interface Comparison {
  readonly expected: Readonly<Record<string, unknown>>;
  readonly actual: Readonly<Record<string, unknown>>;
  /** Why the product answers otherwise here, where it does on purpose; `actual` is then the answer with the seed's habits. */
  readonly onPurpose?: string;
}

export type Compare = (line: GoldenLine) => Comparison;
