import { z } from 'zod';
import { answerText, requestText } from '#domain/checks';
import { headAndTail } from '../digest/cut.js';
import { freeFence, inFence, type Fenced } from '#domain/text';
import { plainText, plainValue } from '../digest/plain-text.js';
import { isRecorded, noEvidence } from '../evidence.js';
import { JudgementError, type Judgement } from '../judgement.js';
import type { Metric } from '../metric.js';
import { ownPreamble } from '../prompts/own.js';
import { VERDICT_TOKENS, type Prompt } from '../prompts/prompt.js';
import { catalogueLines } from '../stages/tools.js';
import { checkOwnJudge, filled, placeholdersOf, type OutputRule, type OwnJudge, type Placeholder } from './own-judge.js';

interface OwnAnswer {
  readonly reason: string;
  readonly answer: number | boolean | string;
}

/** Share of the budget that each text but the trace may have; the trace has what they leave. */
const TEXT_SHARE = 0.1;

/** The metric that a project's own definition makes: one question, its answer mapped to [0, 1]. */
export function ownMetric(name: string, definition: OwnJudge): Metric {
  const prompt = promptOf(name, definition.output);
  return {
    prompts: [prompt],
    prepare: (judgement) => {
      const problems = checkOwnJudge(definition);
      if (problems.length > 0) throw new JudgementError('bad_definition', `The judge cannot be used: ${problems.join('; ')}.`);
      const used = placeholdersOf(definition.prompt) as Placeholder[];
      if (!used.some((placeholder) => isThere(judgement, placeholder))) return noEvidence;
      return async () => {
        const { answer, reason } = await judgement.askComposed(prompt, () => compose(judgement, definition.prompt));
        return { value: valueOf(definition.output, answer), reason };
      };
    },
  };
}

function promptOf(name: string, output: OutputRule): Prompt<OwnAnswer> {
  const { shape, answer } = answerOf(output);
  const text = `${ownPreamble}\n\n{"reason": string, "answer": ${shape}}`;
  return { name, text, schema: z.object({ reason: z.string(), answer }), maxOutputTokens: VERDICT_TOKENS };
}

/** What the model is told about its answer, and what is taken for one. Text that says a number or a truth value is taken for it. */
function answerOf(output: OutputRule): { readonly shape: string; readonly answer: z.ZodType<OwnAnswer['answer']> } {
  switch (output.kind) {
    case 'score':
      return {
        shape: `number from ${output.min} to ${output.max}`,
        answer: z.preprocess(numberOf, z.number().min(output.min).max(output.max)),
      };
    case 'boolean':
      return { shape: 'true or false', answer: z.preprocess(truthOf, z.boolean()) };
    case 'choice': {
      // Sorted, because a database may give them back in another order, and the order is part of the prompt's hash.
      const names = Object.keys(output.values).sort();
      return { shape: names.map((each) => JSON.stringify(each)).join(' or '), answer: z.enum(names) };
    }
  }
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
}

function truthOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return { true: true, false: false }[value.trim().toLowerCase()] ?? value;
}

function valueOf(output: OutputRule, answer: OwnAnswer['answer']): number {
  switch (output.kind) {
    case 'score':
      return Math.min(1, Math.max(0, (Number(answer) - output.min) / (output.max - output.min)));
    case 'boolean':
      return answer === true ? 1 : 0;
    case 'choice':
      return output.values[String(answer)] ?? 0;
  }
}

function isThere(judgement: Judgement, placeholder: Placeholder): boolean {
  return placeholder === 'trace' ? isRecorded(judgement.trace) : textFor(judgement, placeholder) !== '';
}

/** The project's prompt with material in place of placeholders, all of it behind one fence. */
function compose(judgement: Judgement, template: string): Fenced {
  const used = [...new Set(placeholdersOf(template))] as Placeholder[];
  const others = used.filter((placeholder) => placeholder !== 'trace').length * TEXT_SHARE;
  const texts = new Map<string, string>(used.map((each) => [each, textFor(judgement, each, others)]));
  const fence = freeFence([template, ...texts.values()]);
  const user = filled(template, (name) => `\n${inFence(fence, name, texts.get(name) ?? '')}\n`);
  return { fence, user };
}

function textFor(judgement: Judgement, placeholder: Placeholder, others = 0): string {
  const { turn, trace } = judgement;
  const short = (text: string): string => headAndTail(text, judgement.units(TEXT_SHARE));
  switch (placeholder) {
    case 'request':
      return short(plainText(requestText(trace)));
    case 'answer':
      return short(plainText(answerText(trace)));
    case 'trace':
      return judgement.digest({ share: others }).text;
    case 'tools':
      return short((catalogueLines(turn) ?? []).join('\n'));
    case 'task_summary':
      return short(plainText(turn.task_summary ?? ''));
    case 'end_state':
      return short(plainValue(turn.end_state));
  }
}
