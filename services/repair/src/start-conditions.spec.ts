import { describe, expect, it } from '@jest/globals';
import { processSettings, type ProjectSettingsPatch } from '#contracts';
import { checkSettings } from './start-conditions.js';

const check =
  (projects: ProjectSettingsPatch, process: object = {}) =>
  () =>
    checkSettings({ projects, process: processSettings.parse(process) });

describe('the repair service', () => {
  it('does not start without a model, and names both settings that would let it', () => {
    expect(check({})).toThrow(/repair_model.*observe_only/);
  });
  it.each([[{ repair_model: 'gpt-5.1' }], [{ observe_only: true }]])('starts with %j', (settings) => {
    expect(check(settings)).not.toThrow();
  });
  it('does not start with a model that nobody has a price for, where the day has a limit', () => {
    const limited = { repair_model: 'our-own', max_cost_usd: 1 };
    expect(check(limited)).toThrow(/^repair_model: .*no price/);
    expect(check(limited, { model_prices: { 'our-own': { input: 1, output: 2 } } })).not.toThrow();
  });
});
