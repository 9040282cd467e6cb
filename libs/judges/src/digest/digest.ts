import type { Trace, Turn } from '#contracts';
import { answerText, requestText } from '#domain/checks';
import { collapseWhiteSpace } from '#domain/text';
import { headAndTail, lengthAfterCut } from './cut.js';
import { indented, plainText, plainValue } from './plain-text.js';
import { stepsOf, type Step } from './steps.js';

export interface DigestOptions {
  /** Tokens that the text may have, by `countTokens`. */
  readonly tokens: number;
  readonly countTokens: (text: string) => number;
  /** The id of each tool call by its span's id, where a metric needs them. */
  readonly callIds?: ReadonlyMap<string, string>;
}

/** A trace as text that fits a budget of tokens. */
export interface Digest {
  readonly text: string;
  /** What the trace itself says in `text`, without our labels: a quote must occur in it. */
  readonly evidence: string;
}

/** UTF-16 units kept of each text: of request and answer; of errors and the first and last steps; of steps in the middle. */
interface Caps {
  readonly ends: number;
  readonly edges: number;
  readonly middle: number;
}

const LEVELS: readonly Caps[] = [
  { ends: 6000, edges: 4000, middle: 4000 },
  { ends: 4000, edges: 3000, middle: 1500 },
  { ends: 3000, edges: 2000, middle: 700 },
  { ends: 2000, edges: 1200, middle: 350 },
  { ends: 1500, edges: 800, middle: 160 },
  { ends: 1200, edges: 500, middle: 60 },
  { ends: 1000, edges: 300, middle: 0 },
  { ends: 600, edges: 120, middle: 0 },
];
const EDGE_STEPS = 3;
const FACT_MAX = 1000;

/** No tokenizer makes longer tokens of text worth reading, so a text this much longer than its budget need not be counted. */
const UNITS_PER_TOKEN_MAX = 8;

interface Source {
  readonly head: readonly string[];
  readonly request: string;
  readonly answer: string;
  readonly steps: readonly Step[];
}

/**
 * The trace as a judge may see it: what was asked, every step in order, what was answered; redacted, sanitised, without
 * our ids. Long texts keep head and tail, marked; the bodies of steps in the middle go first. Every step keeps its line,
 * because a judge of steps must not be shown fewer. Undefined when even that does not fit. Deterministic, and linear in the trace.
 */
export function digest(turn: Turn, trace: Trace, options: DigestOptions): Digest | undefined {
  const source = sourceOf(turn, trace, options.callIds);
  for (const caps of LEVELS) {
    if (estimate(source, caps) > options.tokens * UNITS_PER_TOKEN_MAX) continue;
    const made = render(source, caps);
    if (options.countTokens(made.text) <= options.tokens) return made;
  }
  return undefined;
}

function sourceOf(turn: Turn, trace: Trace, callIds: ReadonlyMap<string, string> | undefined): Source {
  const request = plainText(requestText(trace)) || plainValue(trace.input);
  const answer = plainText(answerText(trace)) || plainValue(trace.output);
  return { head: factsOf(turn, trace), request, answer, steps: stepsOf(trace, [request, answer], callIds) };
}

/** What the host recorded about the whole; how a turn ended is true of its last trace only. */
function factsOf(turn: Turn, trace: Trace): string[] {
  const isLast = turn.traces?.at(-1)?.trace_id === trace.trace_id;
  const error = isLast ? [turn.error?.type, turn.error?.message].filter(Boolean).join(': ') : '';
  return [
    fact('task summary, by the host', turn.task_summary),
    fact('turn status', isLast ? turn.status : undefined),
    fact('turn error', error),
    trace.status === 'ERROR' ? 'trace status: failed' : '',
  ].filter((line) => line !== '');
}

function fact(name: string, text: string | null | undefined): string {
  const plain = headAndTail(collapseWhiteSpace(plainText(text ?? '')), FACT_MAX);
  return plain === '' ? '' : `${name}: ${plain}`;
}

function estimate({ head, request, answer, steps }: Source, caps: Caps): number {
  let units = lengthAfterCut(request.length, caps.ends) + lengthAfterCut(answer.length, caps.ends);
  for (const line of head) units += line.length;
  for (const [at, step] of steps.entries()) {
    for (const body of step.bodies) units += lengthAfterCut(body.text.length, capOf(step, at, steps.length, caps));
  }
  return units;
}

function render(source: Source, caps: Caps): Digest {
  const request = headAndTail(source.request, caps.ends);
  const answer = headAndTail(source.answer, caps.ends);
  const evidence = [request, answer];
  const lines = [...source.head, `request: ${indented(request) || '(not recorded)'}`, 'steps:'];
  appendSteps(source.steps, caps, lines, evidence);
  lines.push(`answer: ${indented(answer) || '(not recorded)'}`);
  return { text: lines.join('\n'), evidence: evidence.join('\n') };
}

/** Steps that show the same line and nothing else, one after the other, share it: `4-9. TOOL search`. */
function appendSteps(steps: readonly Step[], caps: Caps, lines: string[], evidence: string[]): void {
  let bare: { readonly label: string; readonly from: number } | undefined;
  if (steps.length === 0) lines.push('(none recorded)');
  for (const [at, step] of steps.entries()) {
    const cap = capOf(step, at, steps.length, caps);
    const bodies = step.bodies
      .map(({ name, text }) => ({ name, text: headAndTail(text, cap) }))
      .filter(({ text }) => text !== '');
    const label = bodies.length < step.bodies.length ? `${step.label} (texts left out)` : step.label;
    if (bodies.length === 0 && bare?.label === label) {
      lines[lines.length - 1] = `${bare.from}-${at + 1}. ${label}`;
      continue;
    }
    bare = bodies.length === 0 ? { label, from: at + 1 } : undefined;
    lines.push(`${at + 1}. ${label}`);
    for (const { name, text } of bodies) {
      lines.push(`   ${name}: ${indented(text)}`);
      evidence.push(text);
    }
  }
}

function capOf(step: Step, at: number, count: number, caps: Caps): number {
  return step.failed || at < EDGE_STEPS || at >= count - EDGE_STEPS ? caps.edges : caps.middle;
}
