import { Injectable } from '@nestjs/common';
import { noticeView, traceView } from '#domain/repair';
import { WorkStore } from '../postgres/work-store.js';
import type { RunContext } from '../run/run-context.js';
import { refused, type ToolAnswer } from './tool-answer.js';

const NO_RULES: readonly string[] = [];

/** What went wrong: the notices of the episode, and the traces that they flag. */
@Injectable()
export class EvidenceTools {
  constructor(private readonly store: WorkStore) {}

  readNotice({ facts }: RunContext, { notice_id: id }: { notice_id: string }): ToolAnswer {
    const notice = facts.notices.find((one) => one.id === id);
    if (notice === undefined) return foreignNotice(facts);
    return {
      outcome: { kind: 'read', evidence: 'notice', ruleIds: NO_RULES },
      content: { ok: true, untrusted_data: noticeView(notice, facts) },
    };
  }

  /** The database looks whether the trace is the episode's. */
  async inspectTrace({ episode, facts, time }: RunContext, { trace_id: id }: { trace_id: string }): Promise<ToolAnswer> {
    const trace = await this.store.readTrace(episode, id, time.leftMs);
    if (trace === null) return refused(`that trace is not of this episode: its notices flag ${listed(flagged(facts))}`);
    return {
      outcome: { kind: 'read', evidence: 'trace', ruleIds: NO_RULES },
      content: { ok: true, untrusted_data: traceView(trace) },
    };
  }
}

/** A notice that is not the episode's does not exist here. */
export function foreignNotice({ notices }: RunContext['facts']): ToolAnswer {
  return refused(`that notice is not of this episode: it has ${listed(notices.map(({ id }) => id))}`);
}

function flagged({ notices }: RunContext['facts']): string[] {
  return [...new Set(notices.flatMap(({ flagged_traces: traces }) => traces))];
}

const LISTED_MAX = 20;

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? 'none' : ids.slice(0, LISTED_MAX).join(', ');
}
