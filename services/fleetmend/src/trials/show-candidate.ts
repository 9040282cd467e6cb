import type { RuleRecord, TrialView } from '#contracts';
import { openGateway, problemError, type GatewayOptions } from '../http/gateway.js';
import { answer, type FormatOption } from '../output/answer.js';
import { writePlot } from '../output/write-plot.js';
import { ruleText } from '../rules/text.js';
import { trialPlot } from './plot.js';
import { trialText } from './text.js';

export interface ShowOptions extends GatewayOptions, FormatOption {
  readonly plot?: string;
}

/** A rule with its trial; one that is held has none yet. */
export async function showCandidate(id: string, { plot, ...options }: ShowOptions): Promise<void> {
  const gateway = await openGateway(options);
  const rule = await gateway.get<RuleRecord>(`/v1/rules/inventory/${encodeURIComponent(id)}`);
  const answered = await gateway.raw('GET', `/v1/candidates/${encodeURIComponent(id)}/trial`);
  if (answered.status >= 400 && answered.status !== 404) throw problemError(answered);
  const trial = answered.status === 404 ? null : (answered.body as TrialView);
  if (plot !== undefined && trial !== null) await writePlot(plot, trialPlot(trial));
  await answer({ rule, trial }, options, () => [ruleText(rule), trial === null ? 'no trial yet' : trialText(trial)].join('\n\n'));
}
