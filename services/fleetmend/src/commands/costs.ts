import type { Command } from 'commander';
import type { Costs } from '#contracts';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import { example, withGateway } from './options.js';

interface CostsOptions extends GatewayOptions, FormatOption {
  readonly since?: string;
  readonly until?: string;
  readonly by?: string;
}

export function registerCosts(program: Command): void {
  const command = withGateway(program.command('costs'))
    .description('what models cost in a period of whole UTC days, the budget, and what the tiers saved (docs/costs.md)')
    .option('--since <day>', 'from this day on (2026-11-24, RFC 3339, or a number of s, ms, us or ns; default: 7 days)')
    .option('--until <day>', 'days before this one (default: today included)')
    .option('--by <a,b>', 'groups: day, metric, tier, model, session (default: metric,tier,model)')
    .action(async ({ since, until, by, ...options }: CostsOptions) => {
      const [{ openGateway }, { answer }, { costsText }] = await Promise.all([
        import('../http/gateway.js'),
        import('../output/answer.js'),
        import('../costs/text.js'),
      ]);
      const gateway = await openGateway(options);
      await answer(await gateway.get<Costs>('/v1/costs', { since, until, by }), options, costsText);
    });
  example(command, 'fleetmend costs --since 2026-11-01 --by day,model', 'fleetmend costs --by session');
}
