import type { Tool } from '#contracts';
import { toolCalls, type ToolCall } from '#domain/checks';
import { snippet } from '#domain/text';
import { headAndTail } from '../digest/cut.js';
import { plainText, plainValue } from '../digest/plain-text.js';
import type { Section } from '../digest/fence.js';
import { JudgementError, type Judgement } from '../judgement.js';
import type { Metric, Verdict } from '../metric.js';
import { argumentsPrompt, type CallVerdict } from '../prompts/arguments.js';
import { tidy } from '../reason.js';
import { noToolCalls } from './no-tool-calls.js';

/** A call under the id that the model knows it by. Spans' own ids are long, alike, and sometimes the agent's to choose. */
interface NamedCall {
  readonly id: string;
  readonly call: ToolCall;
}

/** Calls in one question: models lose count in longer lists. */
const GROUP_MAX = 15;
/** Shares of the budget for the calls of one question and for their tools; the trace has the rest. */
const CALLS_SHARE = 0.3;
const TOOLS_SHARE = 0.15;
const ARGUMENTS_MAX = 4000;
const SCHEMA_MAX = 3000;
const FAULTS_NAMED = 3;
const WHY_MAX = 240;

/** One yes or no per call; the value is yes / calls. Calls whose arguments were not recorded are not judged, and not counted. */
export const argumentCorrectness: Metric = {
  prompts: [argumentsPrompt],
  prepare: (judgement) => {
    const all = toolCalls(judgement.trace);
    if (all.length === 0) return noToolCalls;
    const calls = named(all).filter(({ call }) => call.input !== undefined);
    if (calls.length === 0) return { code: 'arguments_not_recorded', reason: 'No tool call recorded its arguments.' };
    return () => judgeAll(judgement, calls, all.length - calls.length);
  },
};

function named(calls: readonly ToolCall[]): NamedCall[] {
  return calls.map((call, at) => ({ id: `c${at + 1}`, call }));
}

async function judgeAll(judgement: Judgement, calls: readonly NamedCall[], unrecorded: number): Promise<Verdict> {
  const wrong: { readonly named: NamedCall; readonly why: string }[] = [];
  for (const group of groupsOf(calls, judgement.units(CALLS_SHARE))) {
    const { verdicts } = await judgement.ask(argumentsPrompt, () => materialFor(judgement, group, calls));
    const byId = verdictsById(group, verdicts);
    for (const each of group) {
      const verdict = byId.get(each.id);
      if (verdict?.correct === 'no') wrong.push({ named: each, why: verdict.reason });
    }
  }
  return {
    value: (calls.length - wrong.length) / calls.length,
    reason: reasonFrom(wrong, calls.length, unrecorded),
    spans: wrong.map(({ named: { call } }) => call.spanId),
  };
}

/** Calls in their order, in groups of few enough and short enough ones. */
function groupsOf(calls: readonly NamedCall[], units: number): NamedCall[][] {
  const groups: NamedCall[][] = [];
  let room = 0;
  for (const each of calls) {
    const length = argumentsOf(each.call, units).length;
    const group = groups.at(-1);
    if (group === undefined || group.length >= GROUP_MAX || length > room) {
      groups.push([each]);
      room = units - length;
    } else {
      group.push(each);
      room -= length;
    }
  }
  return groups;
}

function materialFor(judgement: Judgement, group: readonly NamedCall[], all: readonly NamedCall[]): Section[] {
  const callIds = new Map(all.map(({ id, call }) => [call.spanId, id]));
  const units = judgement.units(CALLS_SHARE);
  // A group was made for the whole budget; after a tightening each of its calls gets its share of what is left.
  const each = Math.max(200, Math.floor(units / group.length));
  const total = group.reduce((sum, { call }) => sum + argumentsOf(call, units).length, 0);
  const lines = group.map(
    ({ id, call }) =>
      `${id}. ${nameOf(call.tool)}\n   arguments: ${argumentsOf(call, total <= units ? units : each) || '(none)'}`,
  );
  return [
    { name: 'calls', text: lines.join('\n') },
    { name: 'tools', text: toolsText(judgement, group) },
    { name: 'trace', text: judgement.digest(callIds, CALLS_SHARE + TOOLS_SHARE).text },
  ];
}

function argumentsOf(call: ToolCall, units: number): string {
  return headAndTail(plainValue(call.input), Math.min(ARGUMENTS_MAX, units));
}

/** What the catalogue says about the tools of a group; empty when nothing was recorded. */
function toolsText(judgement: Judgement, group: readonly NamedCall[]): string {
  const used = new Set(group.map(({ call }) => call.tool));
  const tools = (judgement.turn.tools ?? []).filter((tool) => used.has(tool.name));
  const units = Math.min(SCHEMA_MAX, Math.floor(judgement.units(TOOLS_SHARE) / Math.max(1, tools.length)));
  return tools.map((tool) => toolText(tool, units)).join('\n');
}

function toolText({ name, description, parameters }: Tool, units: number): string {
  const text = `${plainText(description ?? '')}\n   parameters: ${plainValue(parameters) || '(not recorded)'}`;
  return `${nameOf(name)}: ${headAndTail(text, units)}`;
}

function nameOf(tool: string): string {
  return snippet(plainText(tool), 80);
}

/** The verdicts of a group by id. A call without one, or with two, cannot be counted, and a guess would be worse than nothing. */
function verdictsById(group: readonly NamedCall[], verdicts: readonly CallVerdict[]): Map<string, CallVerdict> {
  const ids = new Set(group.map(({ id }) => id));
  const byId = new Map<string, CallVerdict>();
  for (const verdict of verdicts) {
    const id = verdict.id.replace(/[[\]\s]/g, '');
    if (!ids.has(id)) throw unmatched(`it judged a call that it was not asked about: ${JSON.stringify(snippet(tidy(id), 40))}`);
    if (byId.has(id)) throw unmatched(`it judged call ${id} twice`);
    byId.set(id, verdict);
  }
  const missing = [...ids].filter((id) => !byId.has(id));
  if (missing.length > 0) throw unmatched(`it did not judge ${missing.join(', ')}`);
  return byId;
}

function unmatched(what: string): JudgementError {
  return new JudgementError('unmatched_verdicts', `The model's verdicts do not match the calls: ${what}.`);
}

/** One sentence from the reasons of the calls that were wrong. */
function reasonFrom(wrong: readonly { named: NamedCall; why: string }[], judged: number, unrecorded: number): string {
  const note = unrecorded === 0 ? '' : ` (${unrecorded} more recorded no arguments and were not judged)`;
  const calls = `${judged} tool ${judged === 1 ? 'call' : 'calls'}`;
  if (wrong.length === 0) return `The arguments of all ${calls} were correct${note}.`;
  const faults = wrong.slice(0, FAULTS_NAMED).map(({ named: { call }, why }) => {
    const words = snippet(tidy(why), WHY_MAX).replace(/[.\s]+$/, '');
    return `"${nameOf(call.tool)}" (span ${snippet(plainText(call.spanId), 40)}): ${words}`;
  });
  const rest = wrong.length > FAULTS_NAMED ? `; and ${wrong.length - FAULTS_NAMED} more` : '';
  return `Wrong arguments in ${wrong.length} of ${calls}${note}: ${faults.join('; ')}${rest}.`;
}
