import type { Turn } from '#contracts';
import { snippet } from '#domain/text';
import type { ToolCall } from '#domain/checks';
import type { Judgement } from '../judgement.js';
import { plainName, plainText } from '../digest/plain-text.js';
import { toolsPrompt, type ExtractedTools } from '../prompts/tools.js';
import { tidy } from '../reason.js';

/** What was asked, which tools were called for it, and which there were. Lines of text, checked against the record. */
export interface Tools {
  readonly asked: string | null;
  readonly called: readonly string[];
  /** Empty when nobody recorded which tools there were. */
  readonly available: readonly string[];
}

const TOOLS_MAX = 200;
const DESCRIPTION_MAX = 120;
const WORDS_MAX = 300;

/** The facts about tools, computed once per trace. What the record says for certain stands against what the model extracted. */
export function toolsOf(judgement: Judgement, calls: readonly ToolCall[]): Promise<Tools> {
  return judgement.shared(toolsPrompt, async () => {
    let evidence = '';
    const extracted = await judgement.ask(toolsPrompt, () => {
      const shown = judgement.digest();
      evidence = shown.evidence;
      return [{ name: 'trace', text: shown.text }];
    });
    const asked = tidy(extracted.asked ?? '');
    return {
      asked: asked === '' ? null : asked,
      called: calledLines(extracted, calls),
      available: catalogueLines(judgement.turn) ?? namesIn(evidence, extracted.available),
    };
  });
}

/** One line per tool that was really called; what the model left out is added, what it made up is dropped. */
function calledLines({ called }: ExtractedTools, calls: readonly ToolCall[]): string[] {
  const told = new Map(called.map((entry) => [entry.tool.trim(), entry]));
  return [...countsByTool(calls)].slice(0, TOOLS_MAX).map(([tool, { count, failed }]) => {
    const entry = told.get(tool);
    const times = `${count} ${count === 1 ? 'call' : 'calls'}${failed === 0 ? '' : `, ${failed} failed`}`;
    const words = entry === undefined ? '' : `; for: ${line(entry.purpose)}; result: ${line(entry.result)}`;
    return `${plainName(tool)} (${times})${words}`;
  });
}

function countsByTool(calls: readonly ToolCall[]): Map<string, { count: number; failed: number }> {
  const counts = new Map<string, { count: number; failed: number }>();
  for (const call of calls) {
    const known = counts.get(call.tool) ?? { count: 0, failed: 0 };
    counts.set(call.tool, { count: known.count + 1, failed: known.failed + (call.failed ? 1 : 0) });
  }
  return counts;
}

/** The recorded catalogue; undefined when there is none, and an empty one is none. */
export function catalogueLines(turn: Turn): string[] | undefined {
  const tools = turn.tools ?? [];
  if (tools.length === 0) return undefined;
  const lines = tools.slice(0, TOOLS_MAX).map((tool) => {
    const description = snippet(plainText(tool.description ?? ''), DESCRIPTION_MAX);
    return description === '' ? plainName(tool.name) : `${plainName(tool.name)}: ${description}`;
  });
  return tools.length > TOOLS_MAX ? [...lines, `…and ${tools.length - TOOLS_MAX} more`] : lines;
}

/** Names that the record really contains. */
function namesIn(evidence: string, names: readonly string[]): string[] {
  const distinct = new Set(names.map((each) => each.trim()).filter((each) => each !== '' && evidence.includes(each)));
  return [...distinct].slice(0, TOOLS_MAX).map((each) => plainName(each));
}

/** Words of a model on one line, so that no entry can pass for two. */
function line(words: string): string {
  return snippet(tidy(words), WORDS_MAX);
}
