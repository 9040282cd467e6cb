import { toIso } from '#ingest';
import type { ProviderBlock, ProviderBlocks } from '../postgres/provider-blocks.js';

/** As scoring names the same trouble in its health events. */
export const JUDGE_BLOCKED = 'scoring.judge_blocked:';

/** An entry for each blocked provider, under the name that its health event has, so that it is there once. */
export function blockedEntries({ blocks, count }: ProviderBlocks): Record<string, string> {
  const entries = blocks.map((block): [string, string] => [
    `${JUDGE_BLOCKED}${block.project}:${block.provider}`,
    // Whoever asks needs no key here: what the endpoint said may quote a trace.
    blockText({ ...block, detail: '' }),
  ]);
  const more = count - blocks.length;
  if (more > 0) entries.push([`${JUDGE_BLOCKED}others`, `${more} more providers are blocked: see scoring.provider_blocks`]);
  return Object.fromEntries(entries);
}

/** Providers as the health of scoring names them: `scoring.judge:gpt-9`, `scoring.default webhook:tone`. */
const OF_PROVIDER = /^scoring\.(judge_blocked:|(\S+ )?(judge|embedding|webhook|responder|verifier):)/;

/** What was heard of a trouble, as it may be told without a key: of a provider not in its own words, which may quote a trace. */
export function toldText(name: string, text: string): string {
  return OF_PROVIDER.test(name) ? 'the provider does not answer; GET /v1/metrics and the journal (scope observe) say more' : text;
}

/** Since when, why, and what to do about it. */
export function blockText({ provider, code, detail, since }: ProviderBlock): string {
  const second = toIso(Math.floor(since / 1_000_000) * 1_000_000).replace('.000Z', 'Z');
  const words = detail === '' ? '' : `${detail.replace(/[.;\s]+$/, '')}; `;
  return `${provider} is blocked since ${second} (${code}): ${words}${adviceFor(provider, code)}. It is tried again by itself every few minutes.`;
}

function adviceFor(provider: string, code: string): string {
  const [kind = '', name = ''] = provider.split(/:(.*)/s);
  if (kind !== 'judge' && kind !== 'embedding')
    return `correct metrics.${name} of the project, or webhook_hosts of the scoring service`;
  switch (code) {
    case 'auth':
      return `give the scoring service a ${kind}_api_key that may use ${name}, and restart it`;
    case 'billing':
      return `top up the account behind ${kind}_base_url, or use another endpoint`;
    case 'unpriced':
      return `give the price of ${name} in model_prices of the scoring service, or set max_cost_usd to 0`;
    default:
      return `correct ${kind}_model of the project, or ${kind}_base_url of the scoring service`;
  }
}
