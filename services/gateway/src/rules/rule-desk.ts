import type { ManyRulesChanged, ProjectSettings, RuleEdit, RuleRecord } from '#contracts';
import type { RuleDirectory } from '#rule-store';
import { invalidRequest, notFound, ProblemError, problemOf } from '../http/problem.js';
import type { ChangeRequest, OperatorChange, RuleChanges } from '../postgres/rule-changes.js';
import type { RuleEdits } from '../postgres/rule-edits.js';
import type { RuleRecords } from '../postgres/rule-records.js';
import { editedRule, reviewOf } from './rule-edit.js';
import { readableScope } from '#domain/rules';

export interface DeskParts {
  readonly changes: RuleChanges;
  readonly edits: RuleEdits;
  readonly records: RuleRecords;
  readonly rules: Pick<RuleDirectory, 'markStale'>;
  readonly settings: { of(project: string): Promise<ProjectSettings> };
}

interface Who {
  readonly project: string;
  readonly who: string;
}

/** What operators do to rules, told in problems where it cannot be. This process reads its own changes at once. */
export class RuleDesk {
  constructor(private readonly parts: DeskParts) {}

  /** @throws ProblemError 404 or 409 */
  async change(by: Who, id: string, change: OperatorChange, reason: string | null): Promise<RuleRecord> {
    const changed = await this.parts.changes.one({ ...by, change, reason }, id);
    if (changed.outcome === 'unknown') throw noRule(id);
    if (changed.outcome === 'refused') throw notPossible(changed.error);
    return this.shown(by.project, id);
  }

  /** @throws ProblemError 422 for a scope that cannot be */
  async changeMany(request: ChangeRequest, scope: string | null): Promise<ManyRulesChanged> {
    const named = scope === null ? null : readableScope(scope);
    if (named?.accepted === false) throw invalidRequest(`scope: ${named.error}`, [{ path: 'scope', message: named.error }]);
    const changed = await this.parts.changes.many(request, scope);
    this.parts.rules.markStale(request.project);
    return changed;
  }

  /** @throws ProblemError 404, 409 or 422 */
  async edit(by: Who, id: string, edit: RuleEdit): Promise<RuleRecord> {
    const settings = await this.parts.settings.of(by.project);
    const edited = await this.parts.edits.edit({ ...by, id }, (old) => {
      const rule = editedRule(old, edit, settings);
      return { edited: rule, hold: reviewOf(rule.scope, settings), allocation: settings.trial_allocation };
    });
    switch (edited.outcome) {
      case 'unknown':
        throw noRule(id);
      case 'retired':
        throw notPossible('a rule that is retired cannot be edited');
      case 'covered':
        throw notPossible(`the rule ${edited.by.id} (${edited.by.status}) says this already: edit or retire that one`);
      case 'edited':
        return this.shown(by.project, edited.id);
    }
  }

  private async shown(project: string, id: string): Promise<RuleRecord> {
    this.parts.rules.markStale(project);
    const record = await this.parts.records.find(project, id);
    if (record === undefined) throw noRule(id);
    return record;
  }
}

export const noRule = (id: string): ProblemError => notFound(`The project has no rule ${id}.`);
const notPossible = (error: string): ProblemError =>
  new ProblemError(problemOf('not-possible', 409, `It cannot be done: ${error}.`));
