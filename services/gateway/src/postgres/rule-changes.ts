import { ruleCandidate, ruleChanged, ruleRestored, ruleRetired, ruleWithdrawn, type EventContract } from '#contracts';
import { derivedId, sessionToken } from '#domain/ids';
import { changeRule, type RuleChange } from '#domain/rules';
import type { Transaction, UnitOfWork } from '#persistence';
import { Conditions } from './conditions.js';
import { lockRules, RULE_COLUMNS, setRulesVersion, storedRule, type RuleRow, type StoredRule } from '#rule-store';

/** What an operator may do to a rule that is there. */
export type OperatorChange = Extract<RuleChange, { kind: 'retire' | 'withdraw' | 'restore' | 'approve' }>;

export interface ChangeRequest {
  readonly project: string;
  readonly who: string;
  readonly change: OperatorChange;
  readonly reason: string | null;
}

export type Changed =
  | { readonly outcome: 'changed'; readonly version: number }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'refused'; readonly error: string };

/** What each change writes, and from which states: what was decided in memory holds only for the row that it was decided about. */
const WRITES: Readonly<
  Record<OperatorChange['kind'], { readonly set: (reason: () => string) => string; readonly from: string }>
> = {
  retire: {
    set: (reason) => `status = 'retired', retired_at = now(), retired_reason = ${reason()}, hold = NULL, held_until = NULL`,
    from: "status <> 'retired'",
  },
  withdraw: { set: () => 'withdrawn_at = now()', from: 'withdrawn_at IS NULL' },
  restore: { set: () => 'withdrawn_at = NULL', from: 'withdrawn_at IS NOT NULL' },
  approve: { set: () => 'hold = NULL, held_until = NULL', from: "status = 'candidate' AND hold IS NOT NULL" },
};

const JOURNAL: Readonly<Record<OperatorChange['kind'], string>> = {
  retire: 'rule_retired',
  withdraw: 'rule_withdrawn',
  restore: 'rule_restored',
  approve: 'rule_approved',
};

/** An approved candidate is one that may be seen from now on. */
const EVENTS: Readonly<Record<OperatorChange['kind'], EventContract<typeof ruleRetired.schema, readonly ['scope']>>> = {
  retire: ruleRetired,
  withdraw: ruleWithdrawn,
  restore: ruleRestored,
  approve: ruleCandidate,
};

interface Touched {
  readonly id: string;
  readonly scope: string;
  readonly episode: string | null;
}

/** What operators do to rules: each change with its events and its journal lines in one transaction, one after the other per project. */
export class RuleChanges {
  constructor(private readonly work: UnitOfWork) {}

  async one(request: ChangeRequest, id: string): Promise<Changed> {
    const { project, change } = request;
    return this.work.run(async (tx) => {
      const { next, now } = await lockRules(tx, project);
      const rule = await findRule(tx, project, id);
      if (rule === undefined) return { outcome: 'unknown' };
      const decided = changeRule(rule, change, { actor: 'operator', now });
      if (!decided.ok) return { outcome: 'refused', error: decided.error };
      await write(
        tx,
        request,
        next,
        new Conditions().add(id, (p) => `id = ${p}`),
      );
      return { outcome: 'changed', version: next };
    });
  }

  /** The rules of a scope, or of the project where it is null. Retired ones stay as they are: nobody reads them. */
  async many(request: ChangeRequest, scope: string | null): Promise<{ version: number; rule_ids: string[] }> {
    return this.work.run(async (tx) => {
      const { next } = await lockRules(tx, request.project);
      const which = new Conditions().add(scope ?? undefined, (p) => `scope = ${p}`).require("status <> 'retired'");
      const touched = await write(tx, request, next, which);
      return { version: touched.length === 0 ? next - 1 : next, rule_ids: touched.map(({ id }) => id) };
    });
  }
}

async function write(tx: Transaction, request: ChangeRequest, version: number, which: Conditions): Promise<Touched[]> {
  const { project, change, reason } = request;
  const { set, from } = WRITES[change.kind];
  const seq = which.parameter(version);
  const setting = set(() => which.parameter(reason));
  which.add(project, (p) => `project = ${p}`).require(from);
  const touched = await tx.query<Touched>(
    `UPDATE rules.rules SET ${setting}, seq = ${seq}, changed_at = now() WHERE ${which.toString()} RETURNING id, scope, episode`,
    which.parameters,
  );
  if (touched.length > 0) await announce(tx, request, version, touched);
  return touched;
}

/** The version first: caches need that one, and nothing else. */
async function announce(
  tx: Transaction,
  { project, who, change, reason }: ChangeRequest,
  version: number,
  touched: readonly Touched[],
): Promise<void> {
  await setRulesVersion(tx, project, version);
  tell(tx, project, version);
  for (const rule of touched) {
    tellOf(tx, EVENTS[change.kind], { project, version, by: who, reason, rule });
    tx.journal({
      id: derivedId(JOURNAL[change.kind], rule.id, version),
      project,
      type: JOURNAL[change.kind],
      ...{ rule: rule.id, episode: rule.episode },
      doc: { by: who, scope: rule.scope, reason, version },
    });
  }
}

export function tell(tx: Transaction, project: string, version: number): void {
  tx.emit({ event: ruleChanged, id: derivedId(ruleChanged.type, project, version), project, payload: { version } });
}

export interface RuleNews {
  readonly project: string;
  readonly version: number;
  readonly by: string;
  readonly reason: string | null;
  readonly rule: Touched;
}

export function tellOf(
  tx: Transaction,
  event: EventContract<typeof ruleRetired.schema, readonly ['scope']>,
  { project, version, by, reason, rule }: RuleNews,
): void {
  tx.emit({
    event,
    id: derivedId(event.type, rule.id, version),
    project,
    tail: [sessionToken(rule.scope)],
    payload: { rule_id: rule.id, scope: rule.scope, version, by, reason, episode_id: rule.episode },
  });
}

export async function findRule(tx: Transaction, project: string, id: string): Promise<StoredRule | undefined> {
  const [row] = await tx.query<RuleRow>(`SELECT ${RULE_COLUMNS} FROM rules.rules WHERE project = $1 AND id = $2`, [project, id]);
  return row === undefined ? undefined : storedRule(row);
}
