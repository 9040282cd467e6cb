import type { Report } from '#contracts';
import { foldTurn, untouched } from '#domain/gate';
import { buildReport } from '#domain/report';
import type { ReportFacts, SettledTurn } from '../postgres/settlements.js';

/** The report of a turn as gating published it last. That of a turn without a problem is not kept, and made from its facts again. */
export function storedReport(turn: number, { report, facts }: Pick<SettledTurn, 'report' | 'facts'>): Report | null {
  return report ?? (facts === null ? null : madeAgain(turn, facts));
}

function madeAgain(
  turn: number,
  { session, accepted_us: acceptedAt, evidence, config, before, rev, ...facts }: ReportFacts,
): Report {
  const verdict = foldTurn(before ?? untouched, evidence, config);
  return { ...buildReport({ session, turn, acceptedAt, ...facts }, evidence, verdict, config), revision: rev };
}
