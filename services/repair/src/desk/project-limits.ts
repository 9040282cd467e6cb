import type { ProjectSettings } from '#contracts';
import type { PriceTable } from '#llm';
import { costOfRun } from '../model/repair-model.js';
import type { ProjectLimit } from '../postgres/work-store.js';

/** Projects that may be repaired, and what they let it cost. One that is not among them waits for a model. */
export function limitsOf(projects: ReadonlyMap<string, ProjectSettings>, prices: PriceTable): ProjectLimit[] {
  return [...projects].flatMap(([project, settings]) => {
    const { repair_model: model, max_repairs_per_hour: hourly, max_cost_usd: usd, observe_only: observe } = settings;
    if (model === null) return [];
    const run = usd > 0 ? costOfRun(model, settings, prices) : 0;
    // A model without a price cannot be kept within a budget, so it is none.
    return run === null ? [] : [{ project, model, per_hour: hourly, usd, run_usd: run, observe }];
  });
}
