import type { ProjectSettings } from '#contracts';
import { lanes, type Lane } from '#domain/scoring';
import type { PriceTable } from '#llm';
import { DIGEST_TOKENS } from './judge-evaluator.js';

/** A digest, a prompt and an extracted stage; a verdict with its reason. */
const TOKENS_IN = DIGEST_TOKENS + 1_500;
const TOKENS_OUT = 800;

/**
 * The most US dollars that one value of a lane usually costs a project; null where nothing can be said: no model, or no price.
 * So much is reserved before it is made, and a day that cannot pay it any more is spent.
 */
export function costOfOne(lane: Lane, settings: ProjectSettings, prices: PriceTable): number | null {
  const model = lane === 'judge' ? settings.judge_model : lane === 'embedding' ? settings.embedding_model : null;
  return model === null ? null : costOf(lane, model, { settings, prices });
}

/** The same for what waits for a provider, `<lane>:<model>`, which need not be the model that the project has set by now. */
export function costOfProvider(provider: string, settings: ProjectSettings, prices: PriceTable): number | null {
  const at = provider.indexOf(':');
  const lane = lanes.find((one) => one === provider.slice(0, at));
  return lane === 'judge' || lane === 'embedding' ? costOf(lane, provider.slice(at + 1), { settings, prices }) : null;
}

function costOf(
  lane: Lane,
  model: string,
  { settings, prices }: { settings: ProjectSettings; prices: PriceTable },
): number | null {
  const price = prices.price(model);
  if (price === null) return null;
  return callsOf(lane, settings) * ((TOKENS_IN * price.inputPerMillion + TOKENS_OUT * price.outputPerMillion) / 1e6);
}

/** Two shared stages, the samples, and two more to confirm a breach. */
function callsOf(lane: Lane, { judge_samples: samples, confirm_breach: confirm }: ProjectSettings): number {
  return lane === 'embedding' ? 1 : 2 + samples + (confirm ? 2 : 0);
}
