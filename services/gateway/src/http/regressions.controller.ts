import { Controller, Inject } from '@nestjs/common';
import type { ProjectSettingsPatch, RegressionReport, RegressionRun } from '#contracts';
import type { Caller } from '../access/caller.js';
import { ProjectSettingsRows } from '../postgres/project-settings.js';
import { Regressions } from '../postgres/regressions.js';
import { effectiveSettings } from '../settings/effective.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { ProblemError, problemOf } from './problem.js';
import { Input, Route, type InputOf } from './route.js';
import { BASE_SETTINGS } from './settings.controller.js';
import { validationRoutes as routes } from './validation-routes.js';

@Controller()
export class RegressionsController {
  constructor(
    @Inject(Regressions) private readonly regressions: Regressions,
    @Inject(ProjectSettingsRows) private readonly rows: ProjectSettingsRows,
    @Inject(BASE_SETTINGS) private readonly base: ProjectSettingsPatch,
  ) {}

  @Route(routes.startRegression)
  async start(
    @CurrentCaller() { project, who }: Caller,
    @Input() { body }: InputOf<typeof routes.startRegression>,
  ): Promise<RegressionRun> {
    const { settings } = effectiveSettings(project, this.base, await this.rows.read(project));
    const id = await this.regressions.start({ project, who, k: body?.k ?? 1, sample: body?.sample }, settings);
    if (id === null)
      throw new ProblemError(
        problemOf(
          'conflict',
          409,
          'No case of the eval set has a replay input: capture failures with an end_state, or attach inputs with `fleetmend evalset attach`.',
        ),
      );
    const { cases: _, ...run } = await this.found(project, id);
    return run;
  }

  @Route(routes.listRegressions)
  async list(
    @CurrentCaller() { project }: Caller,
    @Input() { query: { cursor, limit } }: InputOf<typeof routes.listRegressions>,
  ): Promise<{ items: RegressionRun[]; next_cursor: string | null }> {
    const runs = await this.regressions.list(project, decodeCursor(cursor), limit);
    return pageOf(runs, limit, ({ created_at: at, id }) => ({ at, id }));
  }

  @Route(routes.readRegression)
  read(
    @CurrentCaller() { project }: Caller,
    @Input() { params }: InputOf<typeof routes.readRegression>,
  ): Promise<RegressionReport> {
    return this.found(project, params.id);
  }

  private async found(project: string, id: string): Promise<RegressionReport> {
    const run = await this.regressions.read(project, id);
    if (run !== undefined) return run;
    throw new ProblemError(problemOf('not-found', 404, `There is no regression run ${id}; GET /v1/regressions lists them.`));
  }
}
