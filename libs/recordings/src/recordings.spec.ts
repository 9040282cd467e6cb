import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { turnEndedInput } from '#contracts';
import { describe, expect, it } from '@jest/globals';
import { recognise, RecordingError, sweAgent, tauBench, type TurnInput } from './index.js';

const DATA = '../shared/data';
const present = existsSync(`${DATA}/tau-bench`) || process.env['CI'] === 'true';
if (!present) console.info('Skipped: the recordings in ../shared/data are absent.');
const withData = present ? describe : describe.skip;

interface Row {
  traj: { role: string; content: string | null; tool_call_id?: string }[];
}

interface Trajectory {
  trajectory: { action: string; observation: string }[];
}

type SpanInput = NonNullable<NonNullable<TurnInput['traces']>[number]['spans']>[number];

function json(path: string): unknown {
  return JSON.parse(readFileSync(`${DATA}/${path}`, 'utf8')) as unknown;
}

const rows: Row[] = present
  ? readFileSync(`${DATA}/tau-bench/gpt-4o-airline-tasks-00-24.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)
  : [];

function spans(turns: readonly TurnInput[]): SpanInput[] {
  return turns.flatMap((turn) => (turn.traces ?? []).flatMap((trace) => trace.spans ?? []));
}

const message = (role: string, content: string | null, more: object = {}): object => ({ role, content, ...more });
const call = (id: string, name: string): object => ({ id, type: 'function', function: { name, arguments: '{}' } });

describe('a tau-bench row', () => {
  it('becomes one turn per user message that was answered', () => {
    const traj = [
      message('system', 'policy'),
      message('user', 'first'),
      message('assistant', 'answer one'),
      message('user', 'second'),
      message('assistant', null, { tool_calls: [call('a', 'look'), call('b', 'book')] }),
      message('tool', 'Error: full', { tool_call_id: 'b' }),
      message('tool', 'seen', { tool_call_id: 'a' }),
      message('assistant', 'answer two'),
      message('user', 'bye'),
    ];
    const { turns, reward } = tauBench({ task_id: 3, trial: 1, reward: 1, traj }, { domain: 'air' });
    expect(reward).toBe(1);
    expect(turns.map((turn) => [turn.session_id, turn.turn_index, turn.final])).toEqual([
      ['tau-air-3-1', 0, undefined],
      ['tau-air-3-1', 1, true],
    ]);
    expect(turns.map((turn) => [turn.traces?.[0]?.input, turn.traces?.[0]?.output])).toEqual([
      ['first', 'answer one'],
      ['second', 'answer two'],
    ]);
    expect(spans(turns.slice(1)).map((span) => [span.kind, span.name, span.status, span.output])).toEqual([
      ['LLM', 'chat', 'OK', traj[4]],
      ['TOOL', 'look', 'OK', 'seen'],
      ['TOOL', 'book', 'ERROR', 'Error: full'],
      ['LLM', 'chat', 'OK', traj[7]],
    ]);
    expect(turns[1]?.metadata).toEqual({ unanswered: [traj[8]] });
  });

  it('has no answer in a turn that ends on a tool result', () => {
    const traj = [
      message('user', 'hi'),
      message('assistant', null, { tool_calls: [call('a', 'transfer')] }),
      message('tool', 'ok', { tool_call_id: 'a' }),
    ];
    expect(tauBench({ task_id: 0, trial: 0, traj }).turns[0]?.traces?.[0]?.output).toBe('');
  });

  it('is refused with a reason when it is something else', () => {
    expect(() => tauBench({ traj: 'no' })).toThrow(RecordingError);
    expect(() => tauBench({ traj: [{}] })).toThrow('Message 0 has no role.');
    expect(tauBench({ task_id: 0, trial: 0, traj: [] })).toEqual({ turns: [], reward: null });
  });
});

withData('all 100 tau-bench recordings', () => {
  const tools = present ? (json('tau-bench/airline-tools.json') as unknown[]) : [];

  it('use every message exactly once', () => {
    for (const row of rows) {
      const { turns } = tauBench(row, { tools });
      const unanswered = (turns.at(-1)?.metadata?.unanswered ?? []) as unknown[];
      const seen = spans(turns).flatMap((span) => (span.kind === 'LLM' ? [...(span.input as unknown[]), span.output] : []));
      // A tool result after the last assistant message was seen by no model: only its TOOL span has it.
      const last = row.traj.at(-1);
      const unseen = last?.role === 'tool' ? [last] : unanswered;
      expect([...seen, ...unseen]).toEqual(row.traj);
    }
  });

  it('have a turn for every user message except an unanswered last one', () => {
    for (const row of rows) {
      const users = row.traj.filter(({ role }) => role === 'user').length;
      const unanswered = row.traj.at(-1)?.role === 'user' ? 1 : 0;
      expect(tauBench(row).turns).toHaveLength(users - unanswered);
    }
  });

  it('give every tool call its own result, although some rows use a call id twice', () => {
    let calls = 0;
    for (const row of rows) {
      const results = row.traj.filter(({ role }) => role === 'tool');
      const tools = spans(tauBench(row).turns).filter(({ kind }) => kind === 'TOOL');
      calls += tools.length;
      expect(tools.map(({ output, metadata }) => [metadata?.tool_call_id, output])).toEqual(
        results.map(({ content, tool_call_id }) => [tool_call_id, content]),
      );
      expect(tools.map(({ status }) => status === 'ERROR')).toEqual(
        results.map(({ content }) => content?.startsWith('Error') ?? false),
      );
    }
    expect(calls).toBe(621);
  });

  it('are accepted by the contract, with distinct ids and rising times', () => {
    for (const row of rows) {
      const { turns } = tauBench(row, { tools, domain: 'airline' });
      const ids = spans(turns).map((span) => span.span_id);
      expect(new Set(ids).size).toBe(ids.length);
      turns.forEach((turn, index) => {
        expect(turnEndedInput.safeParse(turn).success).toBe(true);
        expect(turn.turn_index).toBe(index);
        expect(turn.tools).toHaveLength(tools.length);
      });
      const times = spans(turns).map((span) => String(span.started_at));
      expect([...times].sort()).toEqual(times);
    }
  });

  it('are told apart from turns and trajectories', () => {
    expect(rows.every((row) => recognise(row) === 'tau-bench')).toBe(true);
    expect(tauBench(rows[0]).turns.every((turn) => recognise(turn) === 'turn')).toBe(true);
  });
});

withData('all SWE-agent recordings', () => {
  const files = present ? readdirSync(`${DATA}/swe-agent`).filter((name) => name.endsWith('.traj')) : [];

  it('become one valid turn per step, each step used exactly once', () => {
    expect(files).toHaveLength(11);
    const sessions = new Set<string>();
    for (const file of files) {
      const record = json(`swe-agent/${file}`) as Trajectory;
      const turns = sweAgent(record, file);
      expect(recognise(record)).toBe('swe-agent');
      expect(turns).toHaveLength(record.trajectory.length);
      turns.forEach((turn, index) => {
        expect(turnEndedInput.safeParse(turn).error).toBeUndefined();
        const tool = turn.traces?.[0]?.spans?.find((span) => span.kind === 'TOOL');
        expect([tool?.input, tool?.output]).toEqual([
          { command: record.trajectory[index]?.action },
          record.trajectory[index]?.observation,
        ]);
      });
      expect(turns.at(-1)).toMatchObject({ final: true, status: 'completed' });
      expect(turns[0]?.traces?.[0]?.input).not.toBe('');
      sessions.add(turns[0]?.session_id ?? '');
    }
    expect(sessions.size).toBe(files.length);
  });
});

describe('a SWE-agent trajectory', () => {
  it('ends as an error when it was not submitted', () => {
    const turns = sweAgent(
      { trajectory: [{ thought: 't', action: '', observation: '' }], info: { exit_status: 'exit_cost' } },
      'x.traj',
    );
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ session_id: 'swe-x', status: 'error', final: true, error: { message: 'exit_cost' } });
    expect(spans(turns).map((span) => span.kind)).toEqual(['LLM']);
  });

  it('is refused with a reason when it is something else', () => {
    expect(() => sweAgent({}, 'x')).toThrow(RecordingError);
    expect(() => sweAgent({ trajectory: [1] }, 'x')).toThrow('Step 0');
  });
});

describe('recognise', () => {
  it.each([[null], [5], ['turn'], [[]], [{}], [{ traj: [{}] }], [{ session_id: 's' }], [{ trajectory: [1] }]])(
    'does not know %j',
    (value) => {
      expect(recognise(value)).toBeUndefined();
    },
  );

  it('knows a turn', () => {
    expect(recognise({ session_id: 's', turn_index: 0 })).toBe('turn');
  });
});
