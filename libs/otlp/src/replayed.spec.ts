import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Span, Turn } from '#contracts';
import { answerText, hasFailed, requestText, runCheck } from '#domain/checks';
import { canonicalJson } from '#domain/text';
import { tauBench } from '#recordings';
import { describe, expect, it } from '@jest/globals';
import { decodeTraces, exportedSpans, normaliseSpan, recogniseExport, turnsOf, type FoundTurns, type OtlpSpan } from './index.js';
import { fromJsonText, isRecord } from './json-value.js';
import { messagesOf } from './assemble/model-calls.js';

const DATA = '../shared/data';
const REPLAYED = `${DATA}/otlp/replayed`;
const present = existsSync(REPLAYED) || process.env['CI'] === 'true';
if (!present) console.info('Skipped: the replayed conversations in ../shared/data are absent.');
const withData = present ? describe : describe.skip;

const bytesOf = (path: string): Buffer => readFileSync(`${REPLAYED}/${path}`);
const foldersOf = (path: string): string[] => readdirSync(`${REPLAYED}/${path}`).sort();

/** All spans of one dialect's bodies of one conversation, as decoded. */
function rawSpans(dialect: string, folder: string): OtlpSpan[] {
  return foldersOf(`${dialect}/${folder}`).flatMap((file) => {
    const bytes = bytesOf(`${dialect}/${folder}/${file}`);
    if (file.endsWith('-agents-trace-export.json')) {
      const value = JSON.parse(bytes.toString()) as unknown;
      const kind = recogniseExport(value);
      return kind === undefined ? [] : exportedSpans(value, kind).flatMap((one) => ('span' in one ? [one.span] : []));
    }
    if (!file.includes('-traces.')) return [];
    const decoded = decodeTraces(bytes, file.endsWith('.pb') ? 'protobuf' : 'json');
    const spans = [...decoded.spans];
    expect([...decoded.rejected]).toEqual([]);
    return spans;
  });
}

type TauTurn = Turn & { readonly traces: NonNullable<Turn['traces']> };

interface Conversation {
  readonly folder: string;
  /** As the recording has it. */
  readonly turns: readonly TauTurn[];
}

const tools = present ? (JSON.parse(readFileSync(`${DATA}/tau-bench/airline-tools.json`, 'utf8')) as unknown[]) : [];

/**
 * The six conversations as tau-bench recorded them. Three rows are in ../shared/data/tau-bench; the other three come out of the
 * provider's own JSON that one instrumentation kept (the last request holds the whole conversation), read here without our dialects.
 */
function conversations(): Conversation[] {
  return foldersOf('openinference-openai').map((folder) => ({ folder, turns: turnsIn(recordOf(folder)) }));
}

function turnsIn(record: unknown): TauTurn[] {
  return tauBench(record, { tools }).turns as unknown as TauTurn[];
}

interface Traj {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: unknown[];
}

function recordOf(folder: string): { task_id: unknown; trial: unknown; traj: Traj[] } {
  const spans = rawSpans('openinference-openai', folder);
  const calls = spans.filter(({ attributes }) => attributes.get('openinference.span.kind') === 'LLM');
  const last = calls.sort((a, b) => Number((a.start ?? 0n) - (b.start ?? 0n))).at(-1);
  const attribute = (key: string): string => last?.attributes.get(key) as string;
  const [, task, trial] = /^tau-(\d+)-(\d+)$/.exec(attribute('session.id')) ?? [];
  const request = JSON.parse(attribute('input.value')) as { messages: Traj[] };
  const answer = JSON.parse(attribute('output.value')) as { choices: [{ message: Traj }] };
  const traj = [...request.messages, answer.choices[0].message];
  return { task_id: Number(task), trial: Number(trial), traj };
}

interface Call {
  readonly name: string;
  readonly arguments: string;
  readonly failed: boolean;
}

const ordered = (spans: readonly Span[]): Span[] => [...spans].sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0));
const spansOf = (turn: Turn, kind: Span['kind']): Span[] =>
  ordered((turn.traces ?? []).flatMap(({ spans }) => spans)).filter((span) => span.kind === kind);

function callsOf(turn: Turn): Call[] {
  return spansOf(turn, 'TOOL').map((span) => ({
    name: span.name,
    arguments: canonicalJson(fromJsonText(span.input ?? null) as never),
    failed: hasFailed(span),
  }));
}

/** The words of every answer of a model; the recordings hold plain messages, our spans the normal form. */
function textsOf(turn: Turn): string[] {
  return spansOf(turn, 'LLM').flatMap(({ output }) => {
    const messages = isRecord(output) && 'role' in output ? [output] : messagesOf(output);
    return messages.flatMap((message) =>
      typeof message['content'] === 'string' && message['content'] !== '' ? [message['content']] : [],
    );
  });
}

const METRICS = ['tool_correctness', 'argument_correctness'] as const;

function checked(turn: Turn): Record<(typeof METRICS)[number], string>[] {
  return (turn.traces ?? []).map((trace) => {
    const of = (metric: string): string => {
      const score = runCheck(metric, trace, { turn, earlierAnswers: [] });
      return `${score.status} ${String(score.value)}`;
    };
    return { tool_correctness: of('tool_correctness'), argument_correctness: of('argument_correctness') };
  });
}

interface Row {
  turns: number;
  sessions: number;
  requests: number;
  names: number;
  arguments: number;
  failures: number;
  texts: number;
  answers: number;
  modelCalls: number;
  tool_correctness: string;
  argument_correctness: string;
}

/** How many things of a dialect equal the recording. */
function compare(found: ReadonlyMap<string, FoundTurns>, truth: readonly Conversation[]): Row {
  const row: Row = {
    ...{ turns: 0, sessions: 0, requests: 0, names: 0, arguments: 0, failures: 0, texts: 0, answers: 0, modelCalls: 0 },
    ...{ tool_correctness: '', argument_correctness: '' },
  };
  const scores: Record<string, [equal: number, none: number]> = { tool_correctness: [0, 0], argument_correctness: [0, 0] };
  for (const { folder, turns } of truth) {
    const own = found.get(folder)?.turns ?? [];
    row.turns += own.length;
    const sessions = new Set(own.map(({ session_id: id }) => id));
    row.sessions += Number(sessions.size === 1 && sessions.has(turns[0]?.session_id ?? ''));
    for (const [at, turn] of own.entries()) {
      const real = turns[at];
      if (real !== undefined) compareTurn(turn, real, row, scores);
    }
  }
  const shown = ([equal, none]: [number, number] = [0, 0]): string => `${equal} equal, ${none} n/a`;
  return {
    ...row,
    tool_correctness: shown(scores['tool_correctness']),
    argument_correctness: shown(scores['argument_correctness']),
  };
}

function compareTurn(turn: Turn, real: TauTurn, row: Row, scores: Record<string, [number, number]>): void {
  row.requests += Number(requestText(turn) !== '' && requestText(turn) === requestText(real));
  row.answers += Number(answerText(real) !== '' && answerText(turn) === answerText(real));
  row.modelCalls += spansOf(turn, 'LLM').length;
  const [calls, realCalls] = [callsOf(turn), callsOf(real)];
  for (const [n, call] of realCalls.entries()) {
    row.names += Number(calls.length === realCalls.length && calls[n]?.name === call.name);
    row.arguments += Number(calls.length === realCalls.length && calls[n]?.arguments === call.arguments);
    row.failures += Number(call.failed && calls[n]?.failed === true);
  }
  const texts = textsOf(turn);
  row.texts += textsOf(real).filter((text, n) => texts[n] === text).length;
  const [ours, theirs] = [checked(turn)[0], checked(real)[0]];
  for (const metric of METRICS) {
    const score = scores[metric] ?? [0, 0];
    score[0] += Number(ours?.[metric] === theirs?.[metric]);
    score[1] += Number(ours?.[metric].startsWith('not_applicable') === true && theirs?.[metric].startsWith('scored') === true);
  }
}

const FULL: Row = {
  ...{ turns: 26, sessions: 6, requests: 26, names: 23, arguments: 23, failures: 2, texts: 23, answers: 23, modelCalls: 45 },
  ...{ tool_correctness: '26 equal, 0 n/a', argument_correctness: '26 equal, 0 n/a' },
};
/**
 * A tool that answers with a text about its failure did not fail for the library: no status, no exception. Two calls, two turns, of which
 * nobody can say what they are.
 */
const NO_FAILURES = { failures: 0, tool_correctness: '24 equal, 2 n/a' };
/** The program records what it returned: in one turn a tool's result (or the end mark), where the model had said a word with its call. */
const OWN_OUTPUT = { answers: 22 };
/** Four conversations end on a tool's result, and the SDK then asks the model once more. */
const ASKED_AGAIN = { modelCalls: 49 };

/** What each dialect gives, and why it gives less where it does. */
const EXPECTED: Readonly<Record<string, Row>> = {
  'langfuse-openai': { ...FULL, ...NO_FAILURES, ...OWN_OUTPUT },
  'langsmith-otel': { ...FULL, ...NO_FAILURES, ...OWN_OUTPUT },
  'openai-agents-native': { ...FULL, ...NO_FAILURES, ...OWN_OUTPUT, ...ASKED_AGAIN },
  'openinference-anthropic': FULL,
  'openinference-openai': { ...FULL, ...NO_FAILURES, ...OWN_OUTPUT },
  openlit: FULL,
  // Content goes to log events: no texts, no arguments, no catalogue. Names and outcomes of tools are on their spans.
  'otel-contrib-openai': { ...FULL, requests: 0, arguments: 0, texts: 0, answers: 0, argument_correctness: '12 equal, 14 n/a' },
  // Every span is a trace of its own, and none names a session: model calls are joined by their messages, into sessions of other names.
  // Their messages leave out tool calls; tools' spans, which all have the name of a class, are joined by their results, but for the four
  // that end a conversation, which no later request shows. A tool that failed has the status OK, which says only that it returned.
  'traceloop-langchain': {
    ...{ ...FULL, sessions: 0, names: 0, arguments: 19, failures: 0 },
    ...{ tool_correctness: '20 equal, 6 n/a', argument_correctness: '22 equal, 4 n/a' },
  },
  'traceloop-openai': FULL,
  'vercel-ai': { ...FULL, ...NO_FAILURES, ...OWN_OUTPUT, ...ASKED_AGAIN },
};

withData('the replayed conversations', () => {
  const truth = present ? conversations() : [];
  const measured = new Map<string, Row>();

  it('are the recorded ones: where tau-bench is at hand, the rebuilt recording is equal to it', () => {
    const rows = readFileSync(`${DATA}/tau-bench/gpt-4o-airline-tasks-00-24.jsonl`, 'utf8').trim().split('\n');
    const records = rows.map((line) => JSON.parse(line) as { task_id: number; trial: number; traj: Traj[] });
    const known = truth.flatMap(({ folder }) => {
      const rebuilt = recordOf(folder);
      const record = records.find(({ task_id, trial }) => task_id === rebuilt.task_id && trial === rebuilt.trial);
      return record === undefined ? [] : [{ rebuilt, record }];
    });
    expect(known.map(({ record }) => [record.task_id, record.trial])).toEqual([
      [6, 2],
      [10, 1],
      [15, 1],
    ]);
    for (const { rebuilt, record } of known) {
      const words = ({ role, content, tool_calls }: Traj): unknown => [role, content ?? '', tool_calls ?? []];
      const recorded = record.traj.slice(0, rebuilt.traj.length);
      expect(rebuilt.traj.map(words)).toEqual(recorded.map(words));
      // What comes after the last answer is the user's stop, or the result of the last tool.
      expect(record.traj.slice(rebuilt.traj.length).filter(({ role }) => role === 'assistant')).toEqual([]);
    }
    expect(truth.flatMap(({ turns }) => turns)).toHaveLength(26);
    expect(truth.flatMap(({ turns }) => turns.flatMap(callsOf))).toHaveLength(23);
    expect(truth.flatMap(({ turns }) => turns.flatMap(textsOf))).toHaveLength(23);
  });

  it.each(Object.keys(EXPECTED))('%s gives the same turns, calls, texts and scores, as far as it records them', (dialect) => {
    const found = new Map(
      truth.map(({ folder }) => [folder, turnsOf(rawSpans(dialect, folder).map((span) => normaliseSpan(span, 0)))] as const),
    );
    const row = compare(found, truth);
    measured.set(dialect, row);
    expect(row).toEqual(EXPECTED[dialect]);
    // What a dialect cannot give is not applicable; no value is another than the recording's.
    for (const metric of METRICS) {
      const [equal = 0, none = 0] = row[metric].match(/\d+/g)?.map(Number) ?? [];
      expect([metric, equal + none]).toEqual([metric, truth.flatMap(({ turns }) => turns).length]);
    }
  });

  it('come in no other dialect', () => {
    const folders = readdirSync(REPLAYED).filter((name) => !name.includes('.'));
    expect(folders.sort()).toEqual(Object.keys(EXPECTED).sort());
    const table = Object.fromEntries([...measured, ['(recorded)', FULL] as const]);
    console.table(table);
  });
});
