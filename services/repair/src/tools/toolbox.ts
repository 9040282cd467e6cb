import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { RuleTool } from '#contracts';
import type { Conversation } from '#domain/repair';
import type { ToolCall } from '#llm';
import type { RunContext } from '../run/run-context.js';
import { AddRule } from './add-rule.js';
import { EvidenceTools } from './evidence-tools.js';
import { ResolvingTools } from './resolving-tools.js';
import { RuleReads } from './rule-reads.js';
import { refused, type ToolAnswer } from './tool-answer.js';
import { inputOf, toolDefinitions, toolNamed, type InputOf, type ToolKey } from './tool-declarations.js';

/** How much of what is wrong with arguments the model is told. */
const WRONG_MAX = 600;

/** The nine tools of a repair agent, and nothing beside them. */
@Injectable()
export class Toolbox {
  constructor(
    private readonly evidence: EvidenceTools,
    private readonly reads: RuleReads,
    private readonly adding: AddRule,
    private readonly resolving: ResolvingTools,
  ) {}

  /** Never throws for anything that the model did. */
  async call(call: ToolCall, context: RunContext, conversation: Conversation): Promise<ToolAnswer> {
    const key = toolNamed(call.name);
    if (key === undefined) return refused(`there is no tool ${JSON.stringify(call.name.slice(0, 80))}: ${offered()}`);
    if (!call.arguments.ok) return refused(call.arguments.error);
    const input = inputOf(key).safeParse(call.arguments.value);
    if (!input.success) return refused(`the arguments do not fit: ${z.prettifyError(input.error).slice(0, WRONG_MAX)}`);
    return this.run(key, input.data, context, conversation);
  }

  private run(key: ToolKey, input: unknown, context: RunContext, conversation: Conversation): Promise<ToolAnswer> | ToolAnswer {
    switch (key) {
      case 'readNotice':
        return this.evidence.readNotice(context, input as InputOf<'readNotice'>);
      case 'inspectTrace':
        return this.evidence.inspectTrace(context, input as InputOf<'inspectTrace'>);
      case 'addRule':
        return this.adding.add(context, conversation, input as InputOf<'addRule'>);
      case 'acknowledge':
        return this.resolving.acknowledge(context, conversation, input as InputOf<'acknowledge'>);
      case 'resolve':
        return this.resolving.resolve(context, conversation, input as InputOf<'resolve'>);
      default:
        return this.reads.read(context, key satisfies RuleTool, input);
    }
  }
}

function offered(): string {
  return `there are ${toolDefinitions.map(({ name }) => name).join(', ')}`;
}
