import { Controller, Inject } from '@nestjs/common';
import { costDimensionsOf, type Costs, type CostSums, type ProjectSettings, type ProjectSettingsPatch } from '#contracts';
import { ladderSavings } from '#domain/costs';
import type { Caller } from '../access/caller.js';
import { CostLedger } from '../postgres/costs.js';
import { ProjectSettingsRows } from '../postgres/project-settings.js';
import { effectiveSettings } from '../settings/effective.js';
import { CurrentCaller } from './current-caller.js';
import { periodOf } from './query-days.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';
import { BASE_SETTINGS } from './settings.controller.js';

@Controller()
export class CostsController {
  constructor(
    @Inject(CostLedger) private readonly ledger: CostLedger,
    @Inject(ProjectSettingsRows) private readonly rows: ProjectSettingsRows,
    @Inject(BASE_SETTINGS) private readonly base: ProjectSettingsPatch,
  ) {}

  /** One read after the other: side by side they would take every connection of the gateway. */
  @Route(routes.readCosts)
  async read(@CurrentCaller() { project }: Caller, @Input() { query }: InputOf<typeof routes.readCosts>): Promise<Costs> {
    const by = costDimensionsOf(query.by);
    const period = periodOf(query, Date.now());
    const { settings } = effectiveSettings(project, this.base, await this.rows.read(project));
    const { groups, others } = await this.ledger.groups(project, period, by);
    const ofMetrics = await this.ledger.ofMetrics(project, period);
    const turns = await this.ledger.turns(project, period);
    const budget = await this.ledger.budget(project, settings.budget_window_h);
    const { max_cost_usd, max_evals } = settings;
    return {
      ...period,
      ...{ by, totals: ofMetrics.reduce(plus, NOTHING), groups, others, turns },
      budget: { ...budget, max_cost_usd, max_evals },
      ladder: ladderSavings(ofMetrics, turns.admitted, metricsOfTiers(settings)),
    };
  }
}

const NOTHING: CostSums = { evals: 0, calls: 0, tokens_in: 0, tokens_out: 0, cost_usd: 0, unpriced_calls: 0 };

function plus(a: CostSums, b: CostSums): CostSums {
  return {
    evals: a.evals + b.evals,
    calls: a.calls + b.calls,
    tokens_in: a.tokens_in + b.tokens_in,
    tokens_out: a.tokens_out + b.tokens_out,
    cost_usd: a.cost_usd + b.cost_usd,
    unpriced_calls: a.unpriced_calls + b.unpriced_calls,
  };
}

function metricsOfTiers({ tier1_metrics, tier2_metrics, tier3_metrics }: ProjectSettings): string[] {
  return [...tier1_metrics, ...tier2_metrics, ...tier3_metrics];
}
