/** Makers in front of a model's name, as routers and gateways write them. */
const ROUTE = /^.*\//;

/**
 * Models whose makers say that chat completions take `reasoning_effort`: OpenAI's o-series, gpt-5 and after, gpt-oss (OpenAI's API
 * reference); Gemini from 2.5 on through its OpenAI-compatible endpoint (Google's page on it); grok-3-mini (xAI's page on reasoning).
 * Which values one of them takes differs: what is refused is left out and remembered, as everywhere in this library.
 */
const TAKE_EFFORT: readonly RegExp[] = [
  /^o\d/,
  /^gpt-(?:[5-9]|\d\d)(?!.*chat)/,
  /^gpt-oss/,
  /^gemini-(?:2\.5|[3-9])/,
  /^grok-3-mini/,
];

/** Whether a model is known to take `reasoning_effort`. Others may refuse a request that has it, or answer worse. */
export function takesReasoningEffort(model: string): boolean {
  const bare = model.toLowerCase().replace(ROUTE, '');
  return TAKE_EFFORT.some((pattern) => pattern.test(bare));
}
