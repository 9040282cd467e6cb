import type { Tool } from '#contracts';
import { toolCalls, type ToolCall } from '#domain/checks';
import { collapseWhiteSpace, snippet, type Section } from '#domain/text';
import { headAndTail } from '../digest/cut.js';
import { indented, plainName, plainText, plainValue } from '../digest/plain-text.js';
import type { Judgement } from '../judgement.js';
import type { Metric, Verdict } from '../metric.js';
import { argumentsPrompt, type CallVerdict, type CallVerdicts } from '../prompts/arguments.js';
import type { Prompt } from '../prompts/prompt.js';
import { tidy } from '../reason.js';
import { noToolCalls } from './no-tool-calls.js';

/** A call under the id that the model knows it by. Spans' own ids are long, alike, and sometimes the agent's to choose. */
interface NamedCall {
  readonly id: string;
  readonly call: ToolCall;
  readonly arguments: string;
}

interface Wrong {
  readonly call: ToolCall;
  readonly why: string;
}

/** Calls in one question: models lose count in longer lists. */
const GROUP_MAX = 15;
/** Shares of the budget for the calls of one question and for their tools; the trace has the rest. */
const CALLS_SHARE = 0.3;
const TOOLS_SHARE = 0.15;
const ARGUMENTS_MAX = 4000;
/** Less would judge nothing; a digest that cannot spare it does not fit either. */
const ARGUMENTS_MIN = 100;
const SCHEMA_MAX = 3000;
const FAULTS_NAMED = 3;
const WHY_MAX = 240;

/** One yes or no per call; the value is yes / calls. Calls whose arguments were not recorded are not judged, and not counted. */
export const argumentCorrectness: Metric = {
  prompts: [argumentsPrompt],
  prepare: (judgement) => {
    const all = toolCalls(judgement.trace);
    if (all.length === 0) return noToolCalls;
    const calls = named(all);
    if (calls.length === 0) return { code: 'arguments_not_recorded', reason: 'No tool call recorded its arguments.' };
    return () => judgeAll(judgement, calls, all.length - calls.length);
  },
};

/** The calls whose arguments were recorded. `null` and an empty text are a call without arguments, and can be judged. */
function named(calls: readonly ToolCall[]): NamedCall[] {
  return calls.flatMap((call, at) => {
    if (call.input === undefined) return [];
    return [{ id: `c${at + 1}`, call, arguments: headAndTail(plainValue(call.input), ARGUMENTS_MAX) }];
  });
}

async function judgeAll(judgement: Judgement, calls: readonly NamedCall[], unrecorded: number): Promise<Verdict> {
  const wrong: Wrong[] = [];
  for (const group of groupsOf(calls, judgement.units(CALLS_SHARE))) {
    const prompt = promptFor(group);
    const { verdicts } = await judgement.ask(prompt, () => materialFor(judgement, group, calls));
    const byId = new Map(verdicts.map((verdict) => [verdict.id, verdict]));
    for (const { id, call } of group) {
      const verdict = byId.get(id);
      if (verdict?.correct !== 'yes') wrong.push({ call, why: verdict?.reason ?? '' });
    }
  }
  return {
    value: (calls.length - wrong.length) / calls.length,
    reason: reasonFrom(wrong, calls.length, unrecorded),
    spans: wrong.map(({ call }) => call.spanId),
  };
}

/**
 * The prompt for one group: an answer counts only when it has each id of the group once, and no other. A call without a
 * verdict, or with two, cannot be counted, and a guess would be worse than no value.
 */
function promptFor(group: readonly NamedCall[]): Prompt<CallVerdicts> {
  const schema = argumentsPrompt.schema.superRefine(({ verdicts }, context) => {
    const problem = mismatch(group, verdicts);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, path: ['verdicts'] });
  });
  return { ...argumentsPrompt, schema };
}

function mismatch(group: readonly NamedCall[], verdicts: readonly CallVerdict[]): string | undefined {
  const left = new Set(group.map(({ id }) => id));
  for (const { id } of verdicts) {
    if (!left.delete(id)) return `${JSON.stringify(snippet(id, 40))} was judged twice or was not asked about`;
  }
  return left.size === 0 ? undefined : `no verdict for ${[...left].join(', ')}`;
}

/** Calls in their order, in groups of few enough and short enough ones. */
function groupsOf(calls: readonly NamedCall[], units: number): NamedCall[][] {
  const groups: NamedCall[][] = [];
  let room = 0;
  for (const call of calls) {
    const length = Math.min(call.arguments.length, units);
    const group = groups.at(-1);
    if (group === undefined || group.length >= GROUP_MAX || length > room) {
      groups.push([call]);
      room = units - length;
    } else {
      group.push(call);
      room -= length;
    }
  }
  return groups;
}

function materialFor(judgement: Judgement, group: readonly NamedCall[], all: readonly NamedCall[]): Section[] {
  const units = judgement.units(CALLS_SHARE);
  const total = group.reduce((sum, call) => sum + call.arguments.length, 0);
  // A group was made for the whole budget; in a tightened one each call gets its part of what is left.
  const cap = total <= units ? ARGUMENTS_MAX : Math.max(ARGUMENTS_MIN, Math.floor(units / group.length));
  const lines = group.map((call) => {
    const shown = indented(headAndTail(call.arguments, cap));
    return `${call.id}. ${plainName(call.call.tool)}\n   arguments: ${call.arguments === '' ? '(none)' : shown}`;
  });
  return [
    { name: 'calls', text: lines.join('\n') },
    { name: 'tools', text: toolsText(judgement, group) },
    { name: 'trace', text: judgement.digest({ callIds: idsOf(all), share: CALLS_SHARE + TOOLS_SHARE }).text },
  ];
}

function idsOf(calls: readonly NamedCall[]): Map<string, string> {
  return new Map(calls.map(({ id, call }) => [call.spanId, id]));
}

/** What the catalogue says about the tools of a group; empty when nothing was recorded. */
function toolsText(judgement: Judgement, group: readonly NamedCall[]): string {
  const used = new Set(group.map(({ call }) => call.tool));
  const tools = (judgement.turn.tools ?? []).filter((tool) => used.has(tool.name));
  const units = Math.min(SCHEMA_MAX, Math.floor(judgement.units(TOOLS_SHARE) / Math.max(1, tools.length)));
  return tools.map((tool) => toolText(tool, units)).join('\n');
}

function toolText({ name, description, parameters }: Tool, units: number): string {
  const text = `${collapseWhiteSpace(plainText(description ?? ''))}\n   parameters: ${plainValue(parameters) || '(not recorded)'}`;
  return `${plainName(name)}: ${headAndTail(text, units)}`;
}

/** One sentence from the reasons of the calls that were wrong. */
function reasonFrom(wrong: readonly Wrong[], judged: number, unrecorded: number): string {
  const note = unrecorded === 0 ? '' : ` (${unrecorded} more recorded no arguments and were not judged)`;
  const calls = `${judged} tool ${judged === 1 ? 'call' : 'calls'}`;
  if (wrong.length === 0) return `The arguments of all ${calls} were correct${note}.`;
  const faults = wrong.slice(0, FAULTS_NAMED).map(({ call, why }) => {
    const words = snippet(tidy(why), WHY_MAX).replace(/[.\s]+$/, '');
    return `"${plainName(call.tool)}" (span ${snippet(plainText(call.spanId), 40)}): ${words}`;
  });
  const rest = wrong.length > FAULTS_NAMED ? `; and ${wrong.length - FAULTS_NAMED} more` : '';
  return `Wrong arguments in ${wrong.length} of ${calls}${note}: ${faults.join('; ')}${rest}.`;
}
