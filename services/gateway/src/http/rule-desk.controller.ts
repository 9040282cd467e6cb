import { Controller, Inject } from '@nestjs/common';
import type { ManyRulesChanged, RuleRecord } from '#contracts';
import type { Caller } from '../access/caller.js';
import { RuleRecords } from '../postgres/rule-records.js';
import { noRule, RuleDesk } from '../rules/rule-desk.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

interface Page<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

const asked = (flag: 'true' | 'false' | undefined): boolean | undefined => (flag === undefined ? undefined : flag === 'true');
const placeOf = ({ created_at: at, id }: RuleRecord) => ({ at, id });

/** Rules as operators see them, and what they do to them. */
@Controller()
export class RuleDeskController {
  constructor(
    @Inject(RuleRecords) private readonly records: RuleRecords,
    @Inject(RuleDesk) private readonly desk: RuleDesk,
  ) {}

  @Route(routes.listRuleRecords)
  async inventory(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listRuleRecords>,
  ): Promise<Page<RuleRecord>> {
    const { cursor, limit, status, scope, withdrawn } = query;
    const filter = { status, scope, withdrawn: asked(withdrawn) };
    return pageOf(await this.records.list(project, filter, decodeCursor(cursor), limit), limit, placeOf);
  }

  @Route(routes.readRuleRecord)
  async record(
    @CurrentCaller() { project }: Caller,
    @Input() { params }: InputOf<typeof routes.readRuleRecord>,
  ): Promise<RuleRecord> {
    const record = await this.records.find(project, params.id);
    if (record === undefined) throw noRule(params.id);
    return record;
  }

  @Route(routes.listCandidates)
  async candidates(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listCandidates>,
  ): Promise<Page<RuleRecord>> {
    const { cursor, limit, scope, held } = query;
    const filter = { status: 'candidate', scope, held: asked(held) } as const;
    return pageOf(await this.records.list(project, filter, decodeCursor(cursor), limit), limit, placeOf);
  }

  @Route(routes.retireRule)
  retire(@CurrentCaller() caller: Caller, @Input() { params, body }: InputOf<typeof routes.retireRule>): Promise<RuleRecord> {
    return this.desk.change(caller, params.id, { kind: 'retire', reason: body.reason }, body.reason);
  }

  @Route(routes.withdrawRule)
  withdraw(@CurrentCaller() caller: Caller, @Input() { params, body }: InputOf<typeof routes.withdrawRule>): Promise<RuleRecord> {
    return this.desk.change(caller, params.id, { kind: 'withdraw' }, body?.reason ?? null);
  }

  @Route(routes.restoreRule)
  restore(@CurrentCaller() caller: Caller, @Input() { params, body }: InputOf<typeof routes.restoreRule>): Promise<RuleRecord> {
    return this.desk.change(caller, params.id, { kind: 'restore' }, body?.reason ?? null);
  }

  @Route(routes.approveRule)
  approve(@CurrentCaller() caller: Caller, @Input() { params, body }: InputOf<typeof routes.approveRule>): Promise<RuleRecord> {
    return this.desk.change(caller, params.id, { kind: 'approve' }, body?.reason ?? null);
  }

  @Route(routes.editRule)
  edit(@CurrentCaller() caller: Caller, @Input() { params, body }: InputOf<typeof routes.editRule>): Promise<RuleRecord> {
    return this.desk.edit(caller, params.id, body);
  }

  @Route(routes.withdrawRules)
  withdrawMany(
    @CurrentCaller() { project, who }: Caller,
    @Input() { body: { scope, reason } }: InputOf<typeof routes.withdrawRules>,
  ): Promise<ManyRulesChanged> {
    return this.desk.changeMany({ project, who, change: { kind: 'withdraw' }, reason: reason ?? null }, scope ?? null);
  }

  @Route(routes.restoreRules)
  restoreMany(
    @CurrentCaller() { project, who }: Caller,
    @Input() { body: { scope, reason } }: InputOf<typeof routes.restoreRules>,
  ): Promise<ManyRulesChanged> {
    return this.desk.changeMany({ project, who, change: { kind: 'restore' }, reason: reason ?? null }, scope ?? null);
  }
}
