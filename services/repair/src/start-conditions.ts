import { SettingsError, type LoadedSettings } from '#config';
import { projectSettings } from '#contracts';
import { pricesFromSettings, priceTable, unpriced } from '#llm/prices';

/** @throws SettingsError for settings under which nothing could be repaired, or nothing paid */
export function checkSettings({ projects, process }: LoadedSettings): void {
  const settings = projectSettings.parse(projects);
  if (settings.repair_model === null && !settings.observe_only)
    throw new SettingsError(
      'the repair service needs a model: set repair_model (with repair_base_url and repair_api_key), or observe_only, under which nothing is repaired',
    );
  const problem = unpriced(settings, priceTable(pricesFromSettings(process.model_prices)));
  if (problem !== null) throw new SettingsError(`${problem.setting}: ${problem.message}`);
}
