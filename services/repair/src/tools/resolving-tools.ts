import { Injectable } from '@nestjs/common';
import { outsidePart, type Conversation } from '#domain/repair';
import { RuleLookup } from '../postgres/rule-lookup.js';
import type { RunContext } from '../run/run-context.js';
import { foreignNotice } from './evidence-tools.js';
import { refused, type ToolAnswer } from './tool-answer.js';
import type { InputOf } from './tool-declarations.js';

/** Code points of a note. */
const NOTE_MAX = 600;

type Resolution = InputOf<'resolve'>['resolution'];

/** The two tools that end an episode. Its notices are acknowledged when the run ends, all of them or none. */
@Injectable()
export class ResolvingTools {
  constructor(private readonly rules: RuleLookup) {}

  acknowledge({ facts }: RunContext, { candidate }: Conversation, input: InputOf<'acknowledge'>): ToolAnswer {
    if (!facts.notices.some(({ id }) => id === input.notice_id)) return foreignNotice(facts);
    if (candidate === null)
      return refused('no rule was added in this episode: add one first, or end the episode with harness_notice_resolve');
    if (input.rule_id !== candidate)
      return refused(
        `only the rule of this episode can be acknowledged: ${candidate}. For another one use harness_notice_resolve`,
      );
    return resolved('candidate_added', candidate, input.note);
  }

  async resolve({ facts, episode }: RunContext, { candidate }: Conversation, input: InputOf<'resolve'>): Promise<ToolAnswer> {
    if (!facts.notices.some(({ id }) => id === input.notice_id)) return foreignNotice(facts);
    const { resolution, existing_rule_id: existing, note } = input;
    if (resolution === 'no_proposal' || resolution === 'unactionable') return resolved(resolution, null, note);
    if (candidate !== null)
      return refused(`this episode has its own rule ${candidate}: acknowledge it, or give up with no_proposal or unactionable`);
    const wrong = await this.wrongRule(episode.project, resolution, existing);
    return wrong === null ? resolved(resolution, existing ?? null, note) : refused(wrong);
  }

  private async wrongRule(project: string, resolution: Resolution, id: string | null | undefined): Promise<string | null> {
    const wanted = resolution === 'duplicate' ? 'an active rule' : 'a candidate';
    if (id === null || id === undefined || id === '') return `${resolution} has to name ${wanted} in existing_rule_id`;
    const rule = await this.rules.find(project, id);
    if (rule === null) return `there is no rule ${JSON.stringify(id.slice(0, 80))}: ${resolution} has to name ${wanted}`;
    if (rule.withdrawn) return `the rule ${id} is withdrawn: nobody reads it`;
    const fits = rule.status === (resolution === 'duplicate' ? 'active' : 'candidate');
    return fits ? null : `the rule ${id} is ${rule.status}: ${resolution} has to name ${wanted}`;
  }
}

type Resolving = Extract<ToolAnswer['outcome'], { kind: 'resolved' }>['status'];

function resolved(status: Resolving, ruleId: string | null, note: string | null | undefined): ToolAnswer {
  return {
    outcome: { kind: 'resolved', status, ruleId, note: outsidePart(note, NOTE_MAX) },
    content: { ok: true, resolved: status, ...(ruleId === null ? {} : { rule_id: ruleId }) },
  };
}
