import { Controller, Inject } from '@nestjs/common';
import type { KnownMetrics, ProjectSettingsPatch } from '#contracts';
import type { Caller } from '../access/caller.js';
import { blockText } from '../operations/blocked-provider.js';
import { ProjectSettingsRows } from '../postgres/project-settings.js';
import { ProviderBlockRows } from '../postgres/provider-blocks.js';
import { effectiveSettings } from '../settings/effective.js';
import { knownMetricsOf } from '../settings/known-metrics.js';
import { CurrentCaller } from './current-caller.js';
import { Route } from './route.js';
import { routes } from './routes.js';
import { BASE_SETTINGS } from './settings.controller.js';

@Controller()
export class MetricsController {
  constructor(
    @Inject(ProjectSettingsRows) private readonly rows: ProjectSettingsRows,
    @Inject(ProviderBlockRows) private readonly blocks: ProviderBlockRows,
    @Inject(BASE_SETTINGS) private readonly base: ProjectSettingsPatch,
  ) {}

  @Route(routes.listMetrics)
  async list(@CurrentCaller() { project }: Caller): Promise<KnownMetrics> {
    const { settings } = effectiveSettings(project, this.base, await this.rows.read(project));
    const { blocks } = await this.blocks.blocked(project);
    const texts = new Map(blocks.map((block) => [block.provider, blockText(block)]));
    return { items: knownMetricsOf(settings, (provider) => texts.get(provider) ?? null) };
  }
}
