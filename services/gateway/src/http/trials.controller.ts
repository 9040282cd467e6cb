import { Controller, Inject } from '@nestjs/common';
import type { PendingTrial, RuleReaderSession, RuleWatch, TrialView } from '#contracts';
import type { Caller } from '../access/caller.js';
import { Trials } from '../postgres/trials.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
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

  @Route(routes.listPendingTrials)
  async pending(
    @CurrentCaller() { project }: Caller,
    @Input() { query: { cursor, limit } }: InputOf<typeof routes.listPendingTrials>,
  ): Promise<{ items: PendingTrial[]; next_cursor: string | null }> {
    const trials = await this.trials.pending(project, decodeCursor(cursor), limit);
    const page = pageOf(trials, limit, ({ at, rule_id: id }) => ({ at, id }));
    return { ...page, items: page.items.map(({ at: _, ...trial }) => trial) };
  }

  @Route(routes.listWatches)
  async watches(
    @CurrentCaller() { project }: Caller,
    @Input() { query: { cursor, limit, verdict } }: InputOf<typeof routes.listWatches>,
  ): Promise<{ items: RuleWatch[]; next_cursor: string | null }> {
    const watches = await this.trials.watches(project, verdict, decodeCursor(cursor), limit);
    return pageOf(watches, limit, ({ started_at: at, id }) => ({ at, id }));
  }

  @Route(routes.listReaders)
  async readers(
    @CurrentCaller() { project }: Caller,
    @Input() { params: { id }, query: { cursor, limit } }: InputOf<typeof routes.listReaders>,
  ): Promise<{ items: RuleReaderSession[]; next_cursor: string | null }> {
    const readers = await this.trials.readers(project, id, decodeCursor(cursor), limit);
    const page = pageOf(readers, limit, ({ first_read_at: at, s }) => ({ at, id: s }));
    return { ...page, items: page.items.map(({ s: _, ...reader }) => reader) };
  }
}
