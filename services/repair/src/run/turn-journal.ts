import { Injectable } from '@nestjs/common';
import { outsideText } from '#domain/repair';
import { UnitOfWork } from '#persistence';
import { journal } from '../announcements.js';
import type { ClaimedEpisode } from '../claimed-episode.js';
import type { SpokenTurn } from './repair-talk.js';

/** How much of a refusal the journal keeps. */
const REFUSAL_MAX = 200;

/** Journals each turn of a run when it is over: what it cost and which tools it called, never what was said. */
@Injectable()
export class TurnJournal {
  constructor(private readonly work: UnitOfWork) {}

  async note(episode: ClaimedEpisode, { number, reply, startedAt, repliedAt, calls }: SpokenTurn): Promise<void> {
    const { run } = episode;
    const { usage, finish } = reply;
    await this.work.run((tx) => {
      const spent = {
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        cost_usd: usage.costUsd,
        notes: usage.notes,
      };
      const doc = { turn: number, finish, calls: calls.length, latency_ms: repliedAt - startedAt, ...spent };
      journal(tx, episode, { type: 'repair_model_turn', run, part: `${number}`, doc });
      calls.forEach(({ call, outcome, content }, at) => {
        const error = typeof content['error'] === 'string' ? outsideText(content['error'], REFUSAL_MAX) : null;
        const of = { turn: number, tool: outsideText(call.name, REFUSAL_MAX), outcome, error };
        journal(tx, episode, { type: 'repair_tool_call', run, part: `${number}.${at}`, doc: of });
      });
      return Promise.resolve();
    });
  }
}
