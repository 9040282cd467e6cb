import type { ProjectSettingsPatch } from '#contracts';
import { Findings, type Violation } from './findings.js';
import { checkAnswers } from './invariants/answers.js';
import { checkAttempts } from './invariants/attempts.js';
import { checkBreaker } from './invariants/breaker.js';
import { loadDeadLetters } from './invariants/dead-letters.js';
import { checkEpisodes } from './invariants/episodes.js';
import { checkNotices, loadNotices } from './invariants/notices.js';
import { checkQuiet } from './invariants/quiet.js';
import { checkRepairs } from './invariants/repairs.js';
import { checkReports, loadReports } from './invariants/reports.js';
import { checkRules, loadRuleEvents } from './invariants/rules.js';
import { checkTrials } from './invariants/trials.js';
import { checkSessions } from './invariants/sessions.js';
import { checkTurns } from './invariants/turns.js';
import { Broker } from './jetstream/broker.js';
import { Reader } from './postgres/reader.js';
import { readSettings } from './project-settings.js';

export interface CheckOptions {
  /** As the owner of the tables. */
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** How many distinct turns FM_TURNS has acknowledged, where the caller counted. */
  readonly expected?: number | undefined;
  /** What the services' own settings file and environment put under every project's row. */
  readonly base?: ProjectSettingsPatch | undefined;
  /** How long the loop may take to come to rest, ms. */
  readonly quietMs?: number | undefined;
}

export interface CheckResult {
  readonly violations: Violation[];
  readonly counted: Record<string, number>;
}

const QUIET_MS = 15_000;

/**
 * Counts DATAFLOW's invariants 1 to 10 and 13. Waits for the loop to come to rest first: under traffic, what is still under way
 * would be found missing. Throws when the database or the broker cannot be read.
 */
export async function checkInvariants(options: CheckOptions): Promise<CheckResult> {
  const reader = await Reader.open(options.databaseUrl);
  try {
    const broker = await Broker.open(options.natsUrl);
    try {
      return await checkAll({ reader, broker }, options);
    } finally {
      await broker.close();
    }
  } finally {
    await reader.close();
  }
}

async function checkAll(
  sources: { reader: Reader; broker: Broker },
  { expected, base = {}, quietMs = QUIET_MS }: CheckOptions,
): Promise<CheckResult> {
  const { reader, broker } = sources;
  const findings = new Findings();
  await checkQuiet(sources, findings, quietMs);
  await reader.snapshot();
  await loadDeadLetters(reader, broker);
  const reportsSince = await loadReports(reader, broker, findings);
  const noticesSince = await loadNotices(reader, broker, findings);
  const rulesSince = await loadRuleEvents(reader, broker);
  const settings = await readSettings(reader, base);
  await checkTurns(sources, findings, expected);
  await checkAnswers(reader, findings);
  await checkSessions(reader, findings);
  await checkReports(reader, findings, reportsSince);
  await checkNotices(reader, findings, { keptSinceUs: noticesSince, settings });
  for (const [project, known] of settings) await checkBreaker(reader, findings, { project, ...known });
  await checkEpisodes(reader, findings);
  await checkRepairs(reader, findings);
  await checkRules(reader, findings, rulesSince);
  await checkTrials(reader, findings);
  await checkAttempts(sources, findings);
  return { violations: findings.violations(), counted: findings.counted };
}
