import { ruleCandidate, rulePromoted, ruleRetired, type PayloadOf } from '#contracts';
import { normalRuleText } from '#domain/rules';
import type { Findings } from '../findings.js';
import type { Broker } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';
import { ScratchTable } from '../postgres/scratch-table.js';
import { checkRows, type RowCheck } from './row-check.js';

const TOLD = [ruleCandidate, rulePromoted, ruleRetired] as const;

/** Copies what FM_RULES says of rules to `checker_rules`. Returns the time since which the stream keeps everything, microseconds. */
export async function loadRuleEvents(reader: Reader, broker: Broker): Promise<number> {
  const { keptSinceUs } = await broker.extent(ruleCandidate.stream);
  const table = await ScratchTable.create<{ rule: string; what: string }>(reader, 'checker_rules', 'rule text, what text');
  for (const { stream, pattern, type } of TOLD) {
    const what = type.slice('rule.'.length);
    for await (const { data } of broker.messages(stream, pattern)) {
      const { rule_id: rule } = JSON.parse(Buffer.from(data).toString()) as PayloadOf<typeof ruleCandidate>;
      await table.add({ rule, what });
    }
  }
  await table.finish();
  return keptSinceUs;
}

/** Invariant 10: live rules say different things; a rule goes from candidate to active to retired, told and journaled once each. */
export async function checkRules(reader: Reader, findings: Findings, keptSinceUs: number): Promise<void> {
  findings.count('rules', await reader.number('SELECT count(*) FROM rules.rules'));
  await checkTexts(reader, findings);
  await checkRows(reader, findings, LIFE);
  await checkRows(reader, findings, { ...EVENTS, parameters: [keptSinceUs] });
  await checkRows(reader, findings, JOURNALED);
}

/** By the text itself: what is stored of it for comparing may be wrong too. */
async function checkTexts(reader: Reader, findings: Findings): Promise<void> {
  const known = new Map<string, string>();
  const rows = reader.rows<{ id: string; project: string; rule: string }>(
    "SELECT id, project, rule FROM rules.rules WHERE status <> 'retired' ORDER BY project, id",
  );
  for await (const { id, project, rule } of rows) {
    const text = `${project}|${normalRuleText(rule)}`;
    const other = known.get(text);
    if (other === undefined) known.set(text, id);
    else findings.add(10, `${project}, rule ${id}: expected a text of its own, found that of ${other}`);
  }
}

interface RuleRow {
  readonly project: string;
  readonly id: string;
  readonly found: string;
}

const LIFE: RowCheck<RuleRow & { status: string }> = {
  invariant: 10,
  sql: `SELECT project, id, status, concat_ws(', ', 'created ' || created_at, 'promoted ' || promoted_at, 'retired ' || retired_at) AS found FROM rules.rules
        WHERE (status = 'candidate') <> (promoted_at IS NULL AND retired_at IS NULL) OR (status = 'active' AND (promoted_at IS NULL OR retired_at IS NOT NULL))
          OR (status = 'retired') <> (retired_at IS NOT NULL) OR promoted_at < created_at OR retired_at < coalesce(promoted_at, created_at)`,
  detail: ({ project, id, status, found }) =>
    `${project}, rule ${id}: expected times from candidate to active to retired that fit ${status}, found it ${found}`,
};

/** Every change that a rule has been through, with its time. */
const CHANGES = `
  SELECT project, id, 'candidate' AS what, created_at AS at FROM rules.rules
  UNION ALL SELECT project, id, 'promoted', promoted_at FROM rules.rules WHERE promoted_at IS NOT NULL
  UNION ALL SELECT project, id, 'retired', retired_at FROM rules.rules WHERE retired_at IS NOT NULL`;

const EVENTS: RowCheck<RuleRow & { what: string }> = {
  invariant: 10,
  sql: `SELECT c.project, c.id, c.what, count(e.rule) || ' events' AS found FROM (${CHANGES}) c LEFT JOIN checker_rules e ON e.rule = c.id AND e.what = c.what
        WHERE extract(epoch FROM c.at) * 1000000 >= $1 GROUP BY c.project, c.id, c.what HAVING count(e.rule) <> 1`,
  detail: ({ project, id, what, found }) => `${project}, rule ${id}: expected one event of it being ${what}, found ${found}`,
};

/** A candidate is journaled as the step of the repair, or as the edit, that wrote it. */
const JOURNALED: RowCheck<RuleRow & { what: string }> = {
  invariant: 10,
  sql: `SELECT c.project, c.id, c.what, count(j.id) || ' rows' AS found FROM (${CHANGES}) c
        LEFT JOIN journal.events j ON j.rule = c.id AND j.project = c.project AND (j.type = 'rule_' || c.what OR (c.what = 'candidate' AND j.type IN ('repair_candidate_added', 'rule_edited')))
        GROUP BY c.project, c.id, c.what HAVING count(j.id) <> 1`,
  detail: ({ project, id, what, found }) =>
    `${project}, rule ${id}: expected one journal row of it being ${what}, found ${found}`,
};
