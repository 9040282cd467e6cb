import { Controller, Inject } from '@nestjs/common';
import type { TrialView } from '#contracts';
import type { Caller } from '../access/caller.js';
import { Trials } from '../postgres/trials.js';
import { CurrentCaller } from './current-caller.js';
import { ProblemError, problemOf } from './problem.js';
import { Input, Route, type InputOf } from './route.js';
import { validationRoutes as routes } from './validation-routes.js';

@Controller()
export class TrialsController {
  constructor(@Inject(Trials) private readonly trials: Trials) {}

  @Route(routes.readTrial)
  async read(
    @CurrentCaller() { project }: Caller,
    @Input() { params: { id } }: InputOf<typeof routes.readTrial>,
  ): Promise<TrialView> {
    const trial = await this.trials.read(project, id);
    if (trial !== undefined) return trial;
    throw new ProblemError(
      problemOf(
        'not-found',
        404,
        `The rule ${id} has no trial: it is held or withdrawn, its trial begins within a second, or there is no such rule.`,
      ),
    );
  }
}
