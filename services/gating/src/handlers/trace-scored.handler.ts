import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, tierRequested, turnEvaluated, type TraceScored } from '#contracts';
import { derivedId, sessionKey } from '#domain/ids';
import type { Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork, type Transaction } from '#persistence';
import { judgeSession, type SessionVerdict } from '../judge-session.js';
import { SessionStore, type SessionBatch } from '../postgres/session-store.js';

@Controller()
export class TraceScoredHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly sessions: SessionStore,
  ) {}

  @OnBatch(consumers.gatingScores)
  async handle(@Payload() batch: readonly Delivery<TraceScored>[]): Promise<void> {
    const bySession = groupBySession(batch);
    await this.work.run(async (tx) => {
      const { known, configs } = await this.sessions.load(tx, bySession);
      const verdicts = bySession.flatMap((group) => {
        const session = known.get(group.s);
        const verdict = session === undefined ? null : judgeSession(session, group.answers, configs);
        return verdict === null ? [] : [{ ...group, verdict }];
      });
      await this.sessions.save(tx, verdicts);
      for (const one of verdicts) emit(tx, one);
    });
  }
}

interface Group extends SessionBatch {
  readonly answers: TraceScored[];
  readonly causes: Map<number, string | undefined>;
}

function groupBySession(batch: readonly Delivery<TraceScored>[]): SessionBatch[] {
  const groups = new Map<string, Group>();
  for (const { project, payload, traceparent } of batch) {
    const s = sessionKey(project, payload.session_id);
    const group: Group = groups.get(s) ?? { s, project, session: payload.session_id, answers: [], causes: new Map() };
    group.answers.push(payload);
    group.causes.set(payload.turn_index, traceparent);
    groups.set(s, group);
  }
  return [...groups.values()].sort((a, b) => (a.s < b.s ? -1 : 1));
}

function emit(tx: Transaction, judged: SessionBatch & { verdict: SessionVerdict }): void {
  const { s, project, session, verdict, causes } = judged;
  for (const { t, decision, request } of verdict.rows) {
    const traceparent = causes.get(t);
    for (const tier of request) {
      const payload = { session_id: session, turn_index: t, tier };
      tx.emit({ event: tierRequested, id: derivedId('tier.requested', s, t, tier), project, traceparent, payload });
    }
    if (decision?.publish !== true) continue;
    const payload = { ...decision.report, ...(verdict.changedFrom === null ? {} : { changed_from: verdict.changedFrom }) };
    tx.emit({ event: turnEvaluated, id: derivedId('turn.evaluated', s, t, decision.revision), project, traceparent, payload });
  }
  journal(tx, judged);
}

/** Firings and corrections, each once: the entry's id holds the revision that it belongs to. */
function journal(tx: Transaction, { s, project, session, verdict }: SessionBatch & { verdict: SessionVerdict }): void {
  for (const t of verdict.tooLate) tx.journal({ id: derivedId('too_late', s, t), project, type: 'too_late', s, session, t });
  for (const { t, decision } of verdict.rows) {
    if (decision === null) continue;
    const { fired, standing, revision, publish, correctedQuietly, digest } = decision;
    const about = { project, s, session, t, doc: { fired, standing, revision } };
    if (publish && revision === 1 && fired.length > 0)
      tx.journal({ ...about, id: derivedId('gate_fired', s, t), type: 'gate_fired' });
    const corrected = correctedQuietly || (publish && revision > 1);
    if (corrected) tx.journal({ ...about, id: derivedId('gate_corrected', s, t, digest, revision), type: 'gate_corrected' });
  }
}
