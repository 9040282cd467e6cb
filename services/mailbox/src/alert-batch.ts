import { Injectable } from '@nestjs/common';
import type { ProjectSettings } from '#contracts';
import { fingerprint } from '#domain/episodes';
import {
  closedBreaker,
  compareNotices,
  foldAlerts,
  ProjectGate,
  type AlertMemory,
  type AlertStep,
  type Breaker,
} from '#domain/notices';
import { SettingsDirectory, type Transaction } from '#persistence';
import { announceBreaker, announceRecovery } from './announcements.js';
import { EpisodeFormation } from './episode-formation.js';
import { AlertStore, type AlertSession, type TouchedSession } from './postgres/alert-store.js';
import { EpisodeStore, type IncidentRow } from './postgres/episode-store.js';
import { NoticeStore, type NoticeRow } from './postgres/notice-store.js';
import { PostedNotices, type NewPost } from './posted-notices.js';

interface FoldedSession extends AlertSession {
  readonly next: readonly AlertStep[];
  readonly memory: AlertMemory | null;
  readonly post: readonly AlertStep[];
  readonly correct: readonly NoticeRow[];
  readonly reinstate: readonly NoticeRow[];
  readonly keep: readonly NoticeRow[];
}

/** Everything that happens to the sessions of one batch, in one transaction. Locks in the order session, breaker, incident, episode. */
@Injectable()
export class AlertBatch {
  constructor(
    private readonly settings: SettingsDirectory,
    private readonly alerts: AlertStore,
    private readonly notices: NoticeStore,
    private readonly episodes: EpisodeStore,
    private readonly posted: PostedNotices,
    private readonly formation: EpisodeFormation,
  ) {}

  /** Returns the sessions with what was read of them: `turn:revision` of every report from `from` on. */
  async decide(
    tx: Transaction,
    touched: readonly TouchedSession[],
  ): Promise<(TouchedSession & { from: number; seen: string })[]> {
    const sessions = await this.fold(tx, touched);
    const counted = new Map(sessions.map(({ s, counted: before }) => [s, before]));
    const busy = sessions.filter(({ post, next, steps }) => post.length > 0 || newRecoveries(next, steps).length > 0);
    const posts = busy.length === 0 ? [] : await this.place(tx, busy, counted);
    const corrected = await this.posted.correct(tx, sessions);
    await this.posted.amend(tx, sessions);
    await this.alerts.save(
      tx,
      sessions.map((one) => ({ ...one, countedNow: one.memory !== null && counted.get(one.s) === true })),
    );
    await this.formation.form(tx, posts, corrected);
    return sessions.map((one) => ({ ...one, seen: one.reports.map(({ t, rev }) => `${t}:${rev}`).join(',') }));
  }

  private async fold(tx: Transaction, touched: readonly TouchedSession[]): Promise<FoldedSession[]> {
    const sessions = await this.alerts.load(tx, touched);
    const known = await this.notices.since(tx, sessions);
    return sessions.map((session) => {
      const { steps, memory } = foldAlerts(
        session.before,
        session.reports.map(({ t, standing, measured, cooldown }) => ({ t, standing, measured, cooldownTurns: cooldown })),
      );
      const own = known
        .filter(({ s }) => s === session.s)
        .map((row) => ({ ...row, corrected: row.status === 'corrected', final: row.status === 'acknowledged' }));
      return { ...session, next: steps, memory, ...compareNotices(steps, own) };
    });
  }

  /** Lets posts out through their project's breaker, in order; recoveries may close it on the way. */
  private async place(tx: Transaction, sessions: readonly FoldedSession[], counted: Map<string, boolean>): Promise<NewPost[]> {
    const projects = [...new Set(sessions.map(({ project }) => project))].sort();
    const { breakers, now } = await this.notices.lockBreakers(tx, projects);
    const settings = new Map<string, ProjectSettings>();
    for (const project of projects) settings.set(project, await this.settings.of(project));
    const wishes = sessions.flatMap((session) => this.wishesOf(session));
    const incidents = await this.episodes.incidentsOf(
      tx,
      wishes.flatMap(({ project, fault }) => (fault === null ? [] : [{ project, fingerprint: fault }])),
    );
    const gates = new Map(projects.map((project) => [project, gateOf(project, { breakers, incidents, settings, now })]));
    const posts: NewPost[] = [];
    for (const session of sessions) {
      const gate = gates.get(session.project);
      const own = settings.get(session.project);
      if (gate === undefined || own === undefined) continue;
      const recoveries = newRecoveries(session.next, session.steps);
      const events = [...recoveries, ...session.post].sort((a, b) => a.t - b.t);
      for (const step of events) {
        if (step.recovered) {
          this.recover(tx, { session, step, gate, counted, settings: own });
          continue;
        }
        const placed = this.wishesOf(session, step).map((wish) => ({
          ...wish,
          placement: gate.place({ fingerprint: wish.fault }),
          settings: own,
          now,
        }));
        if (placed.some(({ placement }) => placement.counted)) counted.set(session.s, true);
        posts.push(...placed);
      }
    }
    await this.notices.saveBreakers(tx, new Map([...gates].map(([project, gate]) => [project, gate.breaker])));
    return this.posted.post(tx, posts, incidents);
  }

  private recover(
    tx: Transaction,
    {
      session,
      step,
      gate,
      counted,
      settings,
    }: { session: FoldedSession; step: AlertStep; gate: ProjectGate; counted: Map<string, boolean>; settings: ProjectSettings },
  ): void {
    // Healthy turns leave no step: a recovery that is the last step still holds, however many turns came after it.
    const holds = session.next.at(-1) === step;
    announceRecovery(tx, { ...session, step, publish: holds && !settings.observe_only });
    if (!holds) return;
    const closed = gate.recovered(counted.get(session.s) === true);
    counted.set(session.s, false);
    if (closed)
      announceBreaker(tx, {
        project: session.project,
        settings,
        breaker: gate.breaker,
        cause: `${session.s}|${step.t}`,
        reason: `session ${session.session} recovered`,
      });
  }

  private wishesOf(session: FoldedSession, only?: AlertStep): Omit<NewPost, 'placement' | 'settings' | 'now'>[] {
    const { s, project, session: name, causes } = session;
    return (only === undefined ? session.post : [only]).flatMap((step) => {
      const report = session.reports.find(({ t }) => t === step.t)?.report ?? null;
      return report === null
        ? []
        : [
            {
              s,
              project,
              session: name,
              t: step.t,
              report,
              traceparent: causes.get(step.t),
              fault: fingerprint(report.signatures, report.signals),
            },
          ];
    });
  }
}

function gateOf(
  project: string,
  known: {
    breakers: ReadonlyMap<string, Breaker>;
    incidents: readonly IncidentRow[];
    settings: ReadonlyMap<string, ProjectSettings>;
    now: number;
  },
): ProjectGate {
  const settings = known.settings.get(project);
  if (settings === undefined) throw new Error(`no settings for the project ${project}`);
  const open = known.incidents
    .filter((one) => one.project === project && (one.status === 'open' || one.status === 'covered'))
    .flatMap(({ fingerprint: fault }) => (fault === null ? [] : [fault]));
  return new ProjectGate(known.breakers.get(project) ?? closedBreaker, new Set(open), settings, known.now);
}

/** Recoveries that are not on record yet. */
function newRecoveries(next: readonly AlertStep[], steps: readonly AlertStep[]): AlertStep[] {
  return next.filter(({ t, recovered }) => recovered && !steps.some((old) => old.t === t && old.recovered));
}
