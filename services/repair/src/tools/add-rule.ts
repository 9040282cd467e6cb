import { Injectable } from '@nestjs/common';
import { metricNames } from '#contracts';
import { draftRule, type Conversation, type ProposalContext, type ProposedRule, type RuleDraft } from '#domain/repair';
import { CandidateWriter, type Added } from '../postgres/candidate-writer.js';
import type { RunContext } from '../run/run-context.js';
import { refused, type ToolAnswer } from './tool-answer.js';

/** `harness_rule_add`: one candidate per episode, over all its runs. */
@Injectable()
export class AddRule {
  constructor(private readonly writer: CandidateWriter) {}

  async add(context: RunContext, { candidate }: Conversation, proposed: ProposedRule): Promise<ToolAnswer> {
    if (candidate !== null) return second(candidate);
    const drafted = draftRule(proposed, proposalContext(context));
    if (!drafted.accepted) return refused(drafted.error);
    const { episode, settings, model, time } = context;
    const wanted = { draft: drafted.draft, proposed: proposed.rule, model, settings };
    const added = (await this.writer.covered(episode.project, wanted)) ?? (await this.writer.add(episode, wanted, time.leftMs));
    return answerOf(added, drafted.draft, context);
  }
}

function proposalContext({ facts, filing, settings }: RunContext): ProposalContext {
  const signals = facts.signals ?? [];
  return {
    filing,
    knownMetrics: [...new Set([...metricNames, ...Object.keys(settings.metrics)])],
    notices: facts.notices.map((notice) => ({
      ...notice,
      signals: signals.filter(({ trace_id: trace }) => notice.flagged_traces.includes(trace)),
    })),
    hints: facts.notices.flatMap(({ scope_hints: hints }) => hints),
  };
}

function answerOf(added: Added, draft: RuleDraft, { settings }: RunContext): ToolAnswer {
  switch (added.kind) {
    case 'added': {
      const { scope, scope_rationale: scopeRationale } = draft;
      const waits = added.held === null ? {} : { held: 'an operator looks at it before it is tried out' };
      return {
        outcome: { kind: 'candidate', ruleId: added.ruleId, scope, scopeRationale },
        content: { ok: true, created: true, rule_id: added.ruleId, scope, status: 'candidate', ...waits },
      };
    }
    case 'covered':
      return suppressed(added.novelty);
    case 'full':
      return refused(
        `the project has as many rules as it may have (${settings.max_active_rules}): resolve the episode without a new one`,
      );
    case 'second':
      return second(null);
  }
}

function suppressed({ verdict, by, covers }: Extract<Added, { kind: 'covered' }>['novelty']): ToolAnswer {
  const { id, rule, status, scope } = by.rule;
  return {
    outcome: { kind: 'suppressed', reason: by.check, ruleIds: covers.map((cover) => cover.rule.id) },
    content: {
      ...{ ok: true, created: false, reason: by.check, existing_rule: { id, rule, status, scope } },
      ...{ recommended_resolution: verdict, existing_rule_id: id },
    },
  };
}

function second(candidate: string | null): ToolAnswer {
  const which = candidate === null ? '' : ` ${candidate}`;
  return refused(`this episode has its rule${which} already, and no other can be added: acknowledge it`);
}
