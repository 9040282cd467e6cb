import { Controller, Inject } from '@nestjs/common';
import type { EffectiveSettings, ProjectSettingsPatch } from '#contracts';
import type { PriceTable } from '#llm/prices';
import type { Caller } from '../access/caller.js';
import { ProjectSettingsRows } from '../postgres/project-settings.js';
import { mergeSettings } from '#persistence';
import { maskedUrls, unmaskedUrls } from '../settings/masked-urls.js';
import { effectiveSettings, patched, problemsOf } from '../settings/effective.js';
import { CurrentCaller } from './current-caller.js';
import { invalidRequest } from './problem.js';
import { describe, Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

/** What the settings file and the environment of this process put under every project's row. */
export const BASE_SETTINGS = Symbol('BASE_SETTINGS');

/** What models cost, as far as this process knows: a limit on cost needs it. */
export const PRICES = Symbol('PRICES');

@Controller()
export class SettingsController {
  constructor(
    @Inject(ProjectSettingsRows) private readonly rows: ProjectSettingsRows,
    @Inject(BASE_SETTINGS) private readonly base: ProjectSettingsPatch,
    @Inject(PRICES) private readonly prices: PriceTable,
  ) {}

  @Route(routes.readSettings)
  async read(@CurrentCaller() { project }: Caller): Promise<EffectiveSettings> {
    return shown(effectiveSettings(project, this.base, await this.rows.read(project)));
  }

  @Route(routes.changeSettings)
  async change(
    @CurrentCaller() { project, who }: Caller,
    @Input() { body: patch }: InputOf<typeof routes.changeSettings>,
  ): Promise<EffectiveSettings> {
    const row = await this.rows.change({ project, who, patch: maskedUrls(patch) }, (doc) => {
      const whole = unmaskedUrls(patch, mergeSettings(this.base, doc));
      const errors = problemsOf(whole, { base: this.base, doc, prices: this.prices });
      if (errors.length > 0) throw invalidRequest(describe(errors), errors);
      return patched(doc, whole);
    });
    return shown(effectiveSettings(project, this.base, row));
  }
}

function shown(effective: EffectiveSettings): EffectiveSettings {
  return { ...effective, settings: maskedUrls(effective.settings) };
}
