import {
  breakerClosed,
  breakerOpened,
  noticePosted,
  noticeResolved,
  sessionRecovered,
  type Notice,
  type ProjectSettings,
} from '#contracts';
import { derivedId, sessionToken } from '#domain/ids';
import type { AlertStep, Breaker } from '#domain/notices';
import type { Transaction } from '#persistence';
import type { NoticeRow } from './postgres/notice-store.js';

/** A notice as the world sees it. */
export function publicNotice(row: NoticeRow): Notice {
  const {
    id,
    session,
    t,
    severity,
    status,
    signatures,
    summary,
    metrics,
    flagged_traces,
    scope_hints,
    recommended_scope,
    incident_id,
    episode_id,
  } = row;
  return {
    ...{
      id,
      session_id: session,
      turn_index: t,
      severity,
      status,
      signatures: [...signatures],
      summary,
      metrics,
      flagged_traces,
      scope_hints,
    },
    ...{ recommended_scope, incident_id, episode_id, posted_at: row.posted_us, resolution: null },
  };
}

export function announceNotice(tx: Transaction, row: NoticeRow, traceparent: string | undefined): void {
  const { id, project, session, s, t, severity, signatures, passage } = row;
  const type = { post: 'notice', needs_human: 'notice', suppress: 'notice_suppressed', shadow: 'notice_shadow' }[passage];
  tx.journal({
    id: derivedId('notice', id),
    project,
    type,
    s,
    session,
    t,
    episode: row.episode_id,
    doc: { notice: id, severity, signatures, incident: row.incident_id },
  });
  if (passage === 'suppress' || passage === 'shadow') return;
  tx.emit({
    event: noticePosted,
    id: derivedId('notice.posted', id),
    project,
    tail: [severity, sessionToken(session)],
    traceparent,
    payload: publicNotice(row),
  });
}

/** Told to everybody only while the turn is near the newest; older ones are corrected in the table and the journal. */
export function announceCorrection(
  tx: Transaction,
  row: NoticeRow,
  { corrections, publish }: { corrections: number; publish: boolean },
): void {
  const { id, project, session, s, t, passage } = row;
  tx.journal({
    id: derivedId('notice_corrected', id, corrections),
    project,
    type: 'notice_corrected',
    s,
    session,
    t,
    episode: row.episode_id,
    doc: { notice: id },
  });
  if (!publish || passage === 'suppress' || passage === 'shadow') return;
  tx.emit({
    event: noticeResolved,
    id: derivedId('notice.resolved', id, 'corrected', corrections),
    project,
    tail: ['corrected', sessionToken(session)],
    payload: { session_id: session, turn_index: t, notice_ids: [id], kind: 'corrected', rule_id: null, note: null },
  });
}

export function announceReinstatement(tx: Transaction, { id, project, session, s, t, corrections }: NoticeRow): void {
  tx.journal({
    id: derivedId('notice_reinstated', id, corrections),
    project,
    type: 'notice_reinstated',
    s,
    session,
    t,
    doc: { notice: id },
  });
}

export function announceAmendment(tx: Transaction, { id, project, session, s, t, summary }: NoticeRow): void {
  tx.journal({
    id: derivedId('notice_amended', id, summary),
    project,
    type: 'notice_amended',
    s,
    session,
    t,
    doc: { notice: id, summary },
  });
}

export function announceRecovery(
  tx: Transaction,
  of: { s: string; project: string; session: string; step: AlertStep; publish: boolean },
): void {
  const { s, project, session, step, publish } = of;
  tx.journal({
    id: derivedId('recovery', s, step.t),
    project,
    type: 'recovery',
    s,
    session,
    t: step.t,
    doc: { signatures: step.signatures },
  });
  if (!publish) return;
  tx.emit({
    event: sessionRecovered,
    id: derivedId('session.recovered', s, step.t),
    project,
    tail: [sessionToken(session)],
    payload: { session_id: session, turn_index: step.t, signatures: [...step.signatures] },
  });
}

/** The breaker opened or closed. `cause` makes the change's id: the same change is told once. */
export function announceBreaker(
  tx: Transaction,
  {
    project,
    settings,
    breaker,
    cause,
    reason,
  }: { project: string; settings: ProjectSettings; breaker: Breaker; cause: string; reason: string },
): void {
  const event = breaker.open ? breakerOpened : breakerClosed;
  const payload = {
    counted: breaker.counted.length,
    window_s: settings.circuit_breaker_window_s,
    max_notices: settings.circuit_breaker_max_notices,
    reason,
  };
  tx.journal({
    id: derivedId(event.type, project, cause),
    project,
    type: breaker.open ? 'breaker_opened' : 'breaker_closed',
    doc: payload,
  });
  tx.emit({ event, id: derivedId(event.type, project, cause), project, payload });
}
