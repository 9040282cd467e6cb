import { Injectable } from '@nestjs/common';
import type { RuleTool, RuleToolInput } from '#contracts';
import type { Reader } from '#domain/rules';
import { RuleDirectory, ruleReads, type ProjectRules, type RefusedRead, type RuleRead } from '#rule-store';
import type { RunContext } from '../run/run-context.js';
import { refused, type ToolAnswer } from './tool-answer.js';

/** The four reads. A repair sees candidates of every arm, and reading them is no exposure: it is no session of the fleet. */
@Injectable()
export class RuleReads {
  constructor(private readonly directory: RuleDirectory) {}

  async read({ episode }: RunContext, tool: RuleTool, input: unknown): Promise<ToolAnswer> {
    const read = ask(await this.directory.of(episode.project), tool, input);
    if ('refused' in read) return refused(read.refused);
    const evidence = tool === 'search' || tool === 'read' ? 'search' : null;
    return {
      outcome: { kind: 'read', evidence, ruleIds: read.exposure?.rule_ids ?? [] },
      content: { ok: true, ...(read.answer as Record<string, unknown>) },
    };
  }
}

function ask(rules: ProjectRules, tool: RuleTool, input: unknown): RuleRead<unknown> | RefusedRead {
  const reader: Reader = { now: Date.now(), withholds: () => false };
  switch (tool) {
    case 'list':
      return ruleReads.list(rules, reader);
    case 'read':
      return ruleReads.read(rules, reader, input as RuleToolInput<'read'>);
    case 'search':
      return ruleReads.search(rules, reader, input as RuleToolInput<'search'>);
    case 'status':
      return ruleReads.status(rules, reader, input as RuleToolInput<'status'>);
  }
}
