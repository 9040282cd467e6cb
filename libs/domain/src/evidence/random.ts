/** Numbers that depend on the seed alone. */
export interface Random {
  /** From 0 to 1, 1 excluded. */
  readonly uniform: () => number;
  /** Standard normal. */
  readonly normal: () => number;
}

const WARM_UP = 12;

/**
 * The generator sfc32 (Doty-Humphrey, PractRand): 128 bits of state, so that long simulations do not run into its period. Different
 * streams of one seed are independent sequences.
 */
export function randomFrom(seed: number, stream: number): Random {
  let [a, b, c, counter] = [seed | 0, stream | 0, Math.floor(seed / 2 ** 32) | 0, 1];
  const uniform = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let at = 0; at < WARM_UP; at += 1) uniform();
  // Box and Muller; 1 - u is never 0.
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}
