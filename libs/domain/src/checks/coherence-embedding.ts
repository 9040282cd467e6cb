/**
 * Coherence by meaning: the cosine of the two texts' vectors, in [0, 1]. A negative cosine is 0: an answer cannot be less to the
 * point than unrelated. The scale is the model's own (coherence-scales.ts). Throws RangeError as `cosine` does.
 */
export function embeddingCoherence(request: readonly number[], answer: readonly number[]): number {
  return Math.max(0, cosine(request, answer));
}

/**
 * The cosine of two vectors of one length, in [-1, 1]. Throws RangeError for vectors of different lengths, and for one without a
 * direction (all zero, or not numbers): that is missing evidence, not a similarity of 0.
 */
export function cosine(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`vectors of ${a.length} and ${b.length} numbers are not of one model`);
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  a.forEach((left, at) => {
    const right = b[at] ?? 0;
    dot += left * right;
    squaresA += left * left;
    squaresB += right * right;
  });
  const lengths = Math.sqrt(squaresA) * Math.sqrt(squaresB);
  if (!(lengths > 0)) throw new RangeError('a vector without direction has no cosine');
  return Math.min(1, Math.max(-1, dot / lengths));
}
