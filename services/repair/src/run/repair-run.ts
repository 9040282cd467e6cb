import { Inject, Injectable } from '@nestjs/common';
import type { ProjectSettings } from '#contracts';
import { beginConversation, decideClaim, type ClaimDecision, type ConversationEnd } from '#domain/repair';
import { filingContext } from '#domain/rules';
import { ModelError, NO_USAGE } from '#llm';
import { InfrastructureError } from '#messaging';
import type { ClaimedEpisode } from '../claimed-episode.js';
import { LeaseLost } from '../lease-lost.js';
import { RepairModel } from '../model/repair-model.js';
import { WorkStore } from '../postgres/work-store.js';
import { Toolbox } from '../tools/toolbox.js';
import { RunTraces } from '../traces-out/run-traces.js';
import { RepairTalk, type SpokenTurn } from './repair-talk.js';
import type { RunContext } from './run-context.js';
import type { RunDeeds, RunEnd } from './run-end.js';
import { RunEndings } from './run-endings.js';
import { RunStopped, type RunTime } from './run-time.js';
import { TurnJournal } from './turn-journal.js';

/** One run: what is claimed comes to one recorded end, unless its lease is lost. */
@Injectable()
export class RepairRun {
  constructor(
    private readonly store: WorkStore,
    private readonly toolbox: Toolbox,
    private readonly endings: RunEndings,
    private readonly journal: TurnJournal,
    @Inject(RepairModel) private readonly model: RepairModel,
    @Inject(RunTraces) private readonly traces: RunTraces,
  ) {}

  /** @throws LeaseLost, InfrastructureError: then the lease runs out, and another worker takes over */
  async run(episode: ClaimedEpisode, settings: ProjectSettings, time: RunTime): Promise<void> {
    const decision = decideClaim(episode);
    if (decision.kind === 'settle')
      await this.endings.end(episode, withoutModel(episode, decision), { end: endOf(decision), settings });
    else await this.askModel(episode, settings, time);
  }

  private async askModel(episode: ClaimedEpisode, settings: ProjectSettings, time: RunTime): Promise<void> {
    const run = { talk: null as RepairTalk | null, deeds: untold(episode) };
    const turns: SpokenTurn[] = [];
    const startedAt = Date.now();
    const end = await this.endOfTalk(async () => {
      const context = await this.context(episode, settings, time);
      run.talk = new RepairTalk(context, {
        ...{ model: this.model, toolbox: this.toolbox },
        listener: async (turn) => {
          turns.push(turn);
          await this.journal.note(episode, turn);
        },
      });
      run.deeds = { ...run.deeds, model: context.model, recommendedScope: context.filing.recommended };
      return run.talk.run();
    }, time);
    const { talk } = run;
    const deeds = talk === null ? run.deeds : { ...run.deeds, conversation: talk.conversation, usage: talk.usage };
    const recorded = await this.endings.end(episode, deeds, { end, settings });
    if (settings.trace_repair_agent && talk !== null)
      this.traces.export({
        episode,
        deeds,
        end: recorded,
        turns,
        startedAt,
        endedAt: Date.now(),
        assignment: talk.messages[1]?.content ?? '',
      });
  }

  private async context(episode: ClaimedEpisode, settings: ProjectSettings, time: RunTime): Promise<RunContext> {
    const facts = await time.race(this.store.readEpisode(episode, time.leftMs));
    const recommendations = facts.notices.map(({ recommended_scope: scope }) => scope);
    const filing = filingContext(recommendations, [facts.end_state]);
    if (settings.repair_model === null) throw new RunStopped('cancelled');
    return { episode, facts, filing, settings, model: settings.repair_model, time };
  }

  private async endOfTalk(talk: () => Promise<ConversationEnd>, time: RunTime): Promise<RunEnd> {
    try {
      const end = await talk();
      this.model.health.answered();
      return end.kind === 'resolved' ? end : unresolved('failed', end.category);
    } catch (error) {
      return this.endByError(error, time);
    }
  }

  private endByError(error: unknown, time: RunTime): RunEnd {
    const stopped = time.stopped ?? (error instanceof RunStopped ? error.reason : null);
    if (stopped === 'lease_lost') throw new LeaseLost('the lease was lost while the model was asked', { cause: error });
    if (stopped !== null) return unresolved(stopped, null);
    if (error instanceof ModelError) {
      this.model.health.failed(error);
      const asked = error.retryAfterMs;
      return { ...unresolved('failed', error.kind), retryAfterS: asked === undefined ? null : Math.ceil(asked / 1_000) };
    }
    if (error instanceof LeaseLost || error instanceof InfrastructureError) throw error;
    this.model.health.broken(error);
    return unresolved('failed', 'internal');
  }
}

type Settling = Extract<ClaimDecision, { kind: 'settle' }>;

function endOf({ status, ruleId }: Settling): RunEnd {
  return { kind: 'resolved', status, ruleId, note: null };
}

function withoutModel(episode: ClaimedEpisode, { status, ruleId }: Settling): RunDeeds {
  const candidate = status === 'candidate_added' ? ruleId : null;
  return { ...untold(episode), conversation: beginConversation(candidate) };
}

function untold({ candidate, recommendedScope }: ClaimedEpisode): RunDeeds {
  return { conversation: beginConversation(candidate), usage: NO_USAGE, model: null, recommendedScope };
}

function unresolved(
  status: 'failed' | 'timed_out' | 'cancelled',
  category: string | null,
): Extract<RunEnd, { kind: 'unresolved' }> {
  return { kind: 'unresolved', status, category, retryAfterS: null };
}
