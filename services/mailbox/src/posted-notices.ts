import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ProjectSettings, Report } from '#contracts';
import { incidentId, noticeId } from '#domain/ids';
import { composeNotice, type NoticeContent, type Placement } from '#domain/notices';
import type { Transaction } from '#persistence';
import { announceAmendment, announceBreaker, announceCorrection, announceReinstatement } from './announcements.js';
import { EpisodeStore, type IncidentRow } from './postgres/episode-store.js';
import { EvalCaseStore } from './postgres/eval-case-store.js';
import type { ReportRow } from './postgres/alert-store.js';
import { NoticeStore, type NoticeRow } from './postgres/notice-store.js';

/** A notice that the fold wants and that is not on record yet. `now`: the database's clock, in seconds. */
export interface NewPost {
  readonly s: string;
  readonly project: string;
  readonly session: string;
  readonly t: number;
  readonly report: Report;
  readonly fault: string | null;
  readonly traceparent: string | undefined;
  readonly placement: Placement;
  readonly settings: ProjectSettings;
  readonly now: number;
  readonly row?: NoticeRow;
  /** The incident that this notice opened. */
  readonly opened?: IncidentRow | null;
}

const STATUS = { post: 'pending', needs_human: 'pending', suppress: 'suppressed', shadow: 'shadow' } as const;

@Injectable()
export class PostedNotices {
  constructor(
    private readonly notices: NoticeStore,
    private readonly episodes: EpisodeStore,
    private readonly cases: EvalCaseStore,
  ) {}

  /** Makes rows of placed posts: incidents, then notices, then the eval cases that belong to them. */
  async post(tx: Transaction, posts: readonly NewPost[], incidents: readonly IncidentRow[]): Promise<NewPost[]> {
    if (posts.length === 0) return [];
    const hints = await this.notices.scopeHints(
      tx,
      posts.map(({ s, t }) => ({ s, t })),
    );
    const faults = new Map(incidents.map((one) => [`${one.project}|${one.fingerprint ?? ''}`, one]));
    const made = posts.map((post, index) => {
      const content = composeNotice(post.report, hints.get(`${post.s}|${post.t}`) ?? []);
      const id = noticeId(post.now * 1000, index.toString(16).padStart(4, '0') + randomBytes(6).toString('hex'));
      const incident = incidentFor(post, id, faults);
      return {
        ...post,
        row: noticeRow(post, content, { id, incident: incident?.row.id ?? null }),
        opened: incident?.opened === true ? incident.row : null,
      };
    });
    for (const { project, placement, settings, row, now } of made) {
      if (!placement.opensBreaker) continue;
      const reason = `more than ${settings.circuit_breaker_max_notices} new problems within ${settings.circuit_breaker_window_s} s`;
      announceBreaker(tx, {
        project,
        settings,
        breaker: { counted: new Array<number>(settings.circuit_breaker_max_notices).fill(now), open: true },
        cause: row.id,
        reason,
      });
    }
    await this.episodes.saveIncidents(
      tx,
      made.flatMap(({ opened }) => (opened === null ? [] : [opened])),
    );
    await this.notices.insert(
      tx,
      made.map(({ row }) => row),
    );
    const captured = made.filter(
      ({ settings, row, placement }) => settings.capture_eval_cases && row.severity === 'breach' && placement.passage === 'post',
    );
    await this.cases.capture(
      tx,
      captured.map(({ row, report, settings }) => ({ notice: row, report, max: settings.eval_case_max })),
    );
    return made;
  }

  /** Notices that later evidence took back, or that stand again. Returns those whose episode changes. */
  async correct(
    tx: Transaction,
    sessions: readonly { correct: readonly NoticeRow[]; reinstate: readonly NoticeRow[]; reports: readonly ReportRow[] }[],
  ): Promise<NoticeRow[]> {
    const correct = sessions.flatMap((one) => one.correct);
    const reinstate = sessions.flatMap((one) => one.reinstate);
    for (const one of sessions) {
      const newest = one.reports.at(-1);
      for (const row of one.correct) {
        announceCorrection(tx, row, {
          corrections: row.corrections + 1,
          publish: newest === undefined || newest.t - row.t <= newest.revise_window,
        });
      }
    }
    for (const row of reinstate) announceReinstatement(tx, row);
    await this.notices.setStatus(tx, [
      ...correct.map(({ id, corrections }) => ({ id, status: 'corrected' as const, corrections: corrections + 1 })),
      ...reinstate.map(({ id, passage, corrections }) => ({ id, status: STATUS[passage], corrections })),
    ]);
    return [...correct, ...reinstate].filter(({ passage }) => passage === 'post');
  }

  /**
   * Notices that stand, while later evidence changed what their report says beside the signatures (another score fired as well):
   * their rows follow, so that they end the same whatever came first. Nothing is posted again.
   */
  async amend(
    tx: Transaction,
    sessions: readonly { keep: readonly NoticeRow[]; reports: readonly { t: number; report: Report | null }[] }[],
  ): Promise<void> {
    const changed = sessions.flatMap(({ keep, reports }) =>
      keep.flatMap((row) => amended(row, reports.find(({ t }) => t === row.t)?.report ?? null) ?? []),
    );
    for (const row of changed) announceAmendment(tx, row);
    await this.notices.setContent(tx, changed);
  }
}

/** What the row should say by the report as it is now; null when it says so. The breaker's own notice is about the breaker. */
function amended(row: NoticeRow, report: Report | null): NoticeRow | null {
  if (report === null || row.passage === 'needs_human') return null;
  const { summary, metrics, flagged_traces } = composeNotice(report, []);
  const said = [row.summary, row.metrics, row.flagged_traces];
  return isDeepStrictEqual(said, [summary, metrics, flagged_traces]) ? null : { ...row, summary, metrics, flagged_traces };
}

/** The incident of a post, and whether the post opened it. A suppressed incident opens when a notice of its fault gets out. */
function incidentFor(
  { project, fault, placement, settings }: NewPost,
  id: string,
  faults: Map<string, IncidentRow>,
): { row: IncidentRow; opened: boolean } | null {
  if (placement.incident === 'none') return null;
  const fingerprint = settings.coalesce === 'fleet' ? fault : null;
  const key = `${project}|${fingerprint ?? ''}`;
  const known = fingerprint === null ? undefined : faults.get(key);
  const status = placement.passage === 'suppress' ? 'suppressed' : 'open';
  if (known !== undefined && (placement.incident === 'joins' || known.status === status)) return { row: known, opened: false };
  const row: IncidentRow =
    known === undefined
      ? { id: incidentId(id), project, fingerprint, status, opened_by: '' }
      : { ...known, status, opened_by: '' };
  if (fingerprint !== null) faults.set(key, row);
  return { row, opened: true };
}

function noticeRow(post: NewPost, content: NoticeContent, ids: { id: string; incident: string | null }): NoticeRow {
  const { passage } = post.placement;
  const paused = `${post.settings.circuit_breaker_max_notices} new problems within ${post.settings.circuit_breaker_window_s} s: further notices and repairs are paused. `;
  return {
    ...content,
    ...{ id: ids.id, project: post.project, session: post.session, s: post.s, t: post.t, status: STATUS[passage], passage },
    severity: passage === 'needs_human' ? 'needs_human' : content.severity,
    summary: passage === 'needs_human' ? paused + content.summary : content.summary,
    ...{
      fingerprint: post.fault,
      incident_id: ids.incident,
      episode_id: null,
      corrections: 0,
      posted_us: Math.round(post.now * 1_000_000),
    },
  };
}
