import type { EpisodeDetail, RuleRecord, RuleToolOutput, SettleAnswer } from '#contracts';
import { table, when, type Column } from '../output/table.js';

/** Rules, what reads of them answer, and what became of a turn, for people. */
export const ruleColumns: readonly Column<RuleRecord>[] = [
  { title: 'rule', of: ({ id }) => id },
  { title: 'status', of: statusOf },
  { title: 'scope', of: ({ scope }) => scope },
  { title: 'created', of: ({ created_at: at }) => when(at) },
  { title: 'read', of: ({ exposures }) => exposures, right: true },
  { title: 'text', of: ({ rule }) => rule },
];

function statusOf({ status, hold, withdrawn_at: withdrawn }: RuleRecord): string {
  const more = [...(hold === null ? [] : [`held: ${hold}`]), ...(withdrawn === null ? [] : ['withdrawn'])];
  return [status, ...more].join(', ');
}

const EMPTY = '';
const TIMES = ['held_until', 'withdrawn_at', 'created_at', 'changed_at', 'promoted_at', 'retired_at'] as const;

/** One rule whole; what it has not is left out. */
export function ruleText(record: RuleRecord): string {
  const times = Object.fromEntries(TIMES.map((name) => [name, when(record[name])]));
  const fields = Object.entries({ ...record, ...times }).map(([name, value]) => ({ name, value: fieldText(value) }));
  return table(
    fields.filter(({ value }) => value !== EMPTY),
    [
      { title: 'field', of: ({ name }) => name },
      { title: 'value', of: ({ value }) => value },
    ],
  );
}

function fieldText(value: string | number | readonly string[] | null): string {
  if (value === null) return EMPTY;
  return typeof value === 'object' ? value.join(', ') : String(value);
}

export function scopeText({ scope, description, rules, provisional, note }: RuleToolOutput<'read'>): string {
  const lines = (shown: typeof rules): string[] => shown.map(({ id, rule }) => `${id}: ${rule}`);
  const candidates = provisional === null ? [] : [provisional.heading, ...lines(provisional.rules)];
  return clean([`${scope}: ${description}`, ...lines(rules), ...candidates, ...(note === null ? [] : [note])]);
}

export function foundText({ rules, provisional, note }: RuleToolOutput<'search'>): string {
  const found = [...rules, ...(provisional?.rules ?? [])];
  if (found.length === 0) return note ?? 'nothing found';
  return table(found, [
    { title: 'rule', of: ({ id }) => id },
    { title: 'scope', of: ({ scope }) => scope },
    { title: 'score', of: ({ score }) => score, right: true },
    { title: 'text', of: ({ snippet }) => snippet },
  ]);
}

/** An episode: where its repair is, and its runs. */
export function episodeText(episode: EpisodeDetail): string {
  const { id, status, outcome, work, session_id: session, turn_index: turn, notice_ids: notices, runs } = episode;
  const end = outcome === null ? '' : `: ${outcome.status}${outcome.rule_id === null ? '' : ` (${outcome.rule_id})`}`;
  const wait = work?.waits_for == null ? '' : `; it waits for ${work.waits_for}`;
  const head = clean([`${id}, ${status}${end}${wait}`, `session ${session}, turn ${turn}, notices ${notices.join(', ')}`]);
  return runs.length === 0 ? `${head}\n\nno run yet` : `${head}\n\n${table(runs, runColumns)}`;
}

const runColumns: readonly Column<EpisodeDetail['runs'][number]>[] = [
  { title: 'run', of: ({ run }) => run, right: true },
  { title: 'started', of: ({ started_at: at }) => when(at) },
  { title: 'ended', of: ({ ended_at: at }) => when(at) },
  { title: 'status', of: ({ status }) => status ?? 'in progress' },
  { title: 'model', of: ({ model }) => model ?? '' },
  { title: 'turns', of: ({ result }) => result?.turns ?? '', right: true },
  { title: 'note', of: ({ result }) => result?.error_category ?? result?.note ?? '' },
];

export function settledText({ session_id: session, turn_index: turn, report, repair, ...rest }: SettleAnswer): string {
  const { timed_out: late, skipped, waiting } = rest;
  const name = `${session}${turn === null ? '' : ` turn ${turn}`}`;
  const head = late ? `${name} is not settled: the time is over` : `${name} is settled`;
  return clean([
    `${head}${waiting === null ? '' : ` (waiting for ${waiting})`}`,
    ...(skipped === null ? [] : [`skipped: ${skipped}`]),
    ...(report === null ? [] : [`report: ${report.signatures.length === 0 ? 'nothing stands' : report.signatures.join(', ')}`]),
    ...(repair === null ? [] : [`repair: ${repair.status}${ruleOf(repair)}`]),
  ]);
}

function ruleOf({ candidate_rule_id: own, existing_rule_id: other }: NonNullable<SettleAnswer['repair']>): string {
  const rule = own ?? other;
  return rule === null ? '' : ` (${rule})`;
}

/** Ids, texts and reasons come from outside: a line each, as a table's cell is. */
function clean(texts: readonly string[]): string {
  return table(texts, [{ title: EMPTY, of: (text) => text }]).replace(/^\n/, '');
}
