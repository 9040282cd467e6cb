import type { Command } from 'commander';
import type { EffectiveSettings } from '#contracts';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import { example, withGateway } from './options.js';

type SettingsOptions = GatewayOptions & FormatOption;

export function registerSettings(program: Command): void {
  const settings = program.command('settings').description('settings of the project');
  example(
    withGateway(settings.command('show').description('the settings in force, and where each comes from')).action(
      async (options: SettingsOptions) => change(options, undefined),
    ),
    'fleetmend settings show',
  );
  example(
    withGateway(settings.command('set').description('change settings; the others stay as they are'))
      .argument('<name=value...>', 'value as JSON or text; null takes the project’s own value away; a.b=1 is one entry of a map')
      .action(async (pairs: string[], options: SettingsOptions) => {
        const { settingsPatchOf } = await import('../settings-patch.js');
        await change(options, settingsPatchOf(pairs));
      }),
    'fleetmend settings set gate_window=4 thresholds.tool_correctness=0.6 observe_only=true',
  );
}

async function change(options: SettingsOptions, patch: object | undefined): Promise<void> {
  const [{ openGateway }, { answer }, { table }] = await Promise.all([
    import('../http/gateway.js'),
    import('../output/answer.js'),
    import('../output/table.js'),
  ]);
  const gateway = await openGateway(options);
  const inForce =
    patch === undefined
      ? await gateway.get<EffectiveSettings>('/v1/settings')
      : await gateway.call<EffectiveSettings>('PUT', '/v1/settings', patch);
  await answer(inForce, options, ({ settings, origins }) => {
    const columns = [
      { title: 'setting', of: ([name]: [string, unknown]) => name },
      { title: 'from', of: ([name]: [string, unknown]) => originOf(name, origins) },
      { title: 'value', of: ([, value]: [string, unknown]) => JSON.stringify(value) },
    ];
    return table(Object.entries(settings), columns);
  });
}

/** A map has an origin per entry, and itself none while it is empty. */
function originOf(name: string, origins: EffectiveSettings['origins']): string {
  const own = Object.entries(origins).filter(([path]) => path === name || path.startsWith(`${name}.`));
  return [...new Set(own.map(([, origin]) => origin))].join(', ') || 'default';
}
