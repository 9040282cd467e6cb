import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerJson, hang, modelServer, status, type ModelRequest, type ModelServer, type Reply } from '#testing';
import { explainError } from '../../explain-error.js';
import { createProgram } from '../../program.js';
import type { NoiseReport } from './noise-report.js';
import { sampleTraces } from './sample-traces.js';

const dir = mkdtempSync(join(tmpdir(), `fleetmend-test-${process.pid}-noise-`));
let server: ModelServer;
beforeAll(async () => {
  server = await modelServer();
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await server.close();
});

const before = { ...process.env };
beforeEach(() => {
  settings({});
});
afterEach(() => {
  jest.restoreAllMocks();
  process.env = { ...before };
});

/** The settings file of this run. */
function settings(more: Record<string, unknown>): void {
  const base = { judge_base_url: server.url, judge_api_key: 'k', judge_model: 'scripted', max_concurrent_evals: 2 };
  const prices = { model_prices: { scripted: { input: 1_000, output: 0 } } };
  process.env['FLEETMEND_SETTINGS'] = file('settings.json', JSON.stringify({ ...base, ...prices, ...more }));
}

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

const turn = (session: string, index: number): object => ({
  ...{ session_id: session, turn_index: index },
  traces: [{ trace_id: `${session}-${index}`, started_at: '2026-11-30T02:00:00Z', input: `Book ${session}`, output: 'booked' }],
});
const turns = file('turns.jsonl', ['a', 'b', 'c'].map((session) => JSON.stringify(turn(session, 0))).join('\n'));

const textOf = ({ body }: ModelRequest): string =>
  (body['messages'] as { content: string }[]).map(({ content }) => content).join('\n');

/** Confidence of session s: the values that are given for it, one after the other. */
function noisy(values: Readonly<Record<string, readonly (number | Reply)[]>>): void {
  const asked: Record<string, number> = {};
  server.script((request) => {
    const session = /Book (\w+)/.exec(textOf(request))?.[1] ?? '';
    const nth = (asked[session] = (asked[session] ?? 0) + 1) - 1;
    const value = (values[session] ?? [1])[nth % (values[session] ?? [1]).length] ?? 1;
    return typeof value === 'function' ? value : answerJson({ reason: 'as it seems', verdict: value });
  });
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...args: string[]): Promise<Ended> {
  let [out, err] = ['', ''];
  jest.spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
    out += text;
    done?.();
    return true;
  }) as typeof process.stdout.write);
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((err += String(text))));
  try {
    await createProgram('0', () => undefined).parseAsync(['calibrate', 'noise', ...args], { from: 'user' });
    return { code: 0, out, err };
  } catch (error) {
    const { exitCode, message } = explainError(error);
    return { code: exitCode, out, err: err + (message ?? '') };
  }
}

const asking = (...more: string[]): Promise<Ended> => run('--turns', turns, '--metric', 'confidence', ...more);
const report = async (...more: string[]): Promise<NoiseReport> =>
  JSON.parse((await asking('--format', 'json', ...more)).out) as NoiseReport;

describe('fleetmend calibrate noise', () => {
  it('asks again for each trace, and says how far the judge disagrees with itself and what that took', async () => {
    noisy({ a: [0.4, 0.6, 0.4, 0.6], b: [0.8], c: [0.2, 0.3] });
    const told = await report('--repeat', '4');
    expect(told).toMatchObject({
      ...{ metric: 'confidence', model: 'scripted', repeat: 4, threshold: 0.5, judge_samples: 1, confirm_breach: false },
      traces: { found: 3, sampled: 3, unreadable: 0 },
      noise: { traces: 3, values: 12, median_range: expect.closeTo(0.1), largest_range: expect.closeTo(0.2), flip_share: 1 / 3 },
      ...{ without_value: {}, unsteady: 0, unanswered: 0 },
      usage: { calls: 12, tokens_in: 144, tokens_out: 84, cost_usd: expect.closeTo(0.144) },
    });
    // Sample variances 0.04 / 3, 0 and 0.01 / 3, pooled.
    expect(told.noise.standard_deviation).toBeCloseTo(Math.sqrt(0.05 / 9));
    expect(told.noise.suggested_gate_drop).toBeCloseTo(5 * Math.sqrt(0.05 / 9));
    expect(told.readings.find(({ session_id: id }) => id === 'c')?.values.toSorted()).toEqual([0.2, 0.2, 0.3, 0.3]);
    expect(told.prompt_hash).not.toBe('');
  });

  it('says it to people, with a gate_drop that noise alone seldom makes', async () => {
    settings({ tier1_metrics: ['confidence'], gate_overrides: { 'confidence@judge': { gate_window: 3 } } });
    noisy({ a: [0.5, 0.6], b: [0.5, 0.6], c: [0.5, 0.6] });
    const { out } = await asking('--repeat', '2', '--format', 'pretty');
    expect(out).toContain('confidence by scripted: 3 of 3 traces, each judged 2 times; 6 values of 3 traces compare');
    expect(out).toContain('standard deviation 0.071 of one value');
    expect(out).toContain('0.15 is in force, which is too small');
    expect(out).toContain(`settings set 'gate_overrides.confidence@judge={"gate_window":3,"gate_drop":0.36}'`);
    expect(out).toMatch(/This took 6 calls, .* \$0\.0720\. It is not in the ledger/);
  });

  it('does not ask for what the gate will not see to be set, nor for what is large enough', async () => {
    noisy({ a: [0.5, 0.52], b: [1], c: [1] });
    expect((await asking('--repeat', '2', '--format', 'pretty')).out).toMatch(/not in tier 1 .* do not go through the gate/);
    settings({ tier1_metrics: ['confidence'] });
    const { out } = await asking('--repeat', '2', '--format', 'pretty');
    expect(out).toContain('0.15 is in force, which will do');
    expect(out).not.toContain('settings set');
  });

  it('says that a judge is too noisy for any gate_drop', async () => {
    noisy({ a: [0, 1], b: [0, 1], c: [0, 1] });
    const { out } = await asking('--repeat', '2', '--format', 'pretty');
    expect(out).toContain('none is large enough');
    expect(out).not.toContain('settings set');
  });

  it('judges as the settings say: samples, and a breach of tier 2 twice more', async () => {
    settings({ judge_samples: 3 });
    noisy({});
    expect((await report('--repeat', '2', '--sample', '1')).usage.calls).toBe(6);
    settings({ tier2_metrics: ['confidence'] });
    noisy({ a: [0.1], b: [0.1], c: [0.1] });
    expect(await report('--repeat', '2', '--sample', '1')).toMatchObject({ confirm_breach: true, usage: { calls: 6 } });
  });

  it('takes the model of the command line, and knows no price for it', async () => {
    noisy({});
    const told = await report('--repeat', '2', '--judge-model', 'another');
    expect([told.model, told.usage.cost_usd, server.requests.at(-1)?.body['model']]).toEqual(['another', null, 'another']);
    expect((await asking('--repeat', '2', '--judge-model', 'another', '--format', 'pretty')).out).toContain('no price is known');
  });

  it('takes a judge that the settings register', async () => {
    settings({
      metrics: { tone: { kind: 'judge', prompt: 'How kind is {{answer}}, to {{request}}?', output: { kind: 'score', max: 10 } } },
    });
    server.script(() => answerJson({ reason: 'friendly', answer: 8 }));
    const { out } = await run('--turns', turns, '--metric', 'tone', '--repeat', '2', '--format', 'json');
    expect(JSON.parse(out)).toMatchObject({
      metric: 'tone',
      noise: { standard_deviation: 0, values: 6 },
      readings: [{ values: [0.8, 0.8] }, {}, {}],
    });
  });

  it('takes tau-bench recordings, and is not stopped by lines that are none', async () => {
    const traj = [
      { role: 'system', content: 'policy' },
      { role: 'user', content: 'Book a' },
      { role: 'assistant', content: 'booked' },
    ];
    const recorded = file('tau.jsonl', `${JSON.stringify({ task_id: 1, trial: 0, reward: 1, traj })}\nnonsense\n`);
    noisy({ a: [0.2, 0.4] });
    const { out } = await run('--turns', recorded, '--metric', 'confidence', '--repeat', '2', '--format', 'json');
    expect(JSON.parse(out)).toMatchObject({ traces: { found: 1, sampled: 1, unreadable: 1 }, noise: { values: 2 } });
  });

  it('counts judgements without a value, and traces that have one only at times', async () => {
    const refused = answerJson({}, { refusal: 'I will not' });
    noisy({ a: [0.5, refused, 0.5], b: [refused], c: [1] });
    expect(await report('--repeat', '3')).toMatchObject({
      without_value: { content: 4 },
      unsteady: 1,
      noise: { traces: 2, values: 5 },
    });
  });

  it('never has more judgements at one time than max_concurrent_evals', async () => {
    noisy({});
    await report('--repeat', '10');
    expect(server.mostAtOnce).toBeLessThanOrEqual(2);
  });

  it('goes on after an answer that did not come, and says so', async () => {
    settings({ judge_timeout_s: 0.2, judge_samples: 1 });
    noisy({ a: [hang(), hang(), hang(), 0.5, 0.5, 0.5, 0.5], b: [0.5], c: [0.5] });
    const { code, out, err } = await asking('--repeat', '3', '--format', 'json');
    expect(code).toBe(0);
    expect((JSON.parse(out) as NoiseReport).unanswered).toBeGreaterThanOrEqual(1);
    expect(err).toContain('got no answer');
  }, 30_000);

  it.each<[string, Reply, number, RegExp]>([
    ['a key that is refused', status(401, { error: { message: 'bad key' } }), 4, /bad key.*judge_api_key/],
    [
      'an account without credit',
      status(429, { error: { message: 'quota', code: 'insufficient_quota' } }),
      4,
      /quota.*judge_base_url/,
    ],
    [
      'a model that is not there',
      status(404, { error: { message: 'no such model', code: 'model_not_found' } }),
      2,
      /no such model.*--judge-model/,
    ],
  ])('ends at once with a clear error for %s', async (_, reply, code, words) => {
    server.script(() => reply);
    const asked = server.requests.length;
    const ended = await asking('--repeat', '50');
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err).toMatch(words);
    expect(server.requests.length - asked).toBeLessThanOrEqual(4);
  });

  it('ends with 5 for an endpoint that is away, without asking it for every judgement', async () => {
    settings({ max_concurrent_evals: 5 });
    server.script(() => status(503, { error: { message: 'overloaded' } }));
    const asked = server.requests.length;
    expect(await asking('--repeat', '100')).toMatchObject({ code: 5, out: '', err: expect.stringContaining('overloaded') });
    // Five in a row, and four beside the last of them; each is tried three times.
    expect(server.requests.length - asked).toBeLessThanOrEqual(27);
  }, 60_000);

  it.each<[string, string[], number, RegExp]>([
    ['no file', ['--metric', 'confidence'], 2, /--turns/],
    ['no metric', ['--turns', turns], 2, /--metric/],
    [
      'a metric that no model judges',
      ['--turns', turns, '--metric', 'coherence'],
      2,
      /no model judges "coherence"; it can be task_completion, .*confidence/,
    ],
    ['a file that is not there', ['--turns', join(dir, 'none'), '--metric', 'confidence'], 3, /none cannot be read/],
    [
      'a file without turns',
      ['--turns', file('empty.jsonl', '{"a": 1}\n'), '--metric', 'confidence'],
      1,
      /1 lines cannot be read, the first: neither a turn/,
    ],
    [
      'turns without traces',
      ['--turns', file('bare.jsonl', '{"session_id": "s", "turn_index": 0}\n'), '--metric', 'confidence'],
      1,
      /traces inline/,
    ],
    ['one time only', ['--turns', turns, '--metric', 'confidence', '--repeat', '1'], 2, /from 2 to 100/],
  ])('ends with a clear error for %s', async (_, args, code, words) => {
    const ended = await run(...args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err).toMatch(words);
  });

  it('says that no model is set', async () => {
    settings({ judge_model: null });
    expect(await asking()).toMatchObject({ code: 2, err: expect.stringMatching(/--judge-model/) });
  });

  it('says when nothing can be compared', async () => {
    noisy({
      a: [answerJson({}, { refusal: 'no' })],
      b: [answerJson({}, { refusal: 'no' })],
      c: [answerJson({}, { refusal: 'no' })],
    });
    expect(await asking('--repeat', '2')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no trace has two values of confidence: 6 content'),
    });
  });
});

describe('the sample', () => {
  const many = (order: readonly number[], name: string): string =>
    file(name, order.map((n) => JSON.stringify(turn(`s${n}`, n))).join('\n'));
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const idsOf = async (path: string, most: number): Promise<string[]> =>
    (await sampleTraces(path, most, {})).traces.map(({ trace }) => trace.trace_id);

  it('is the same for the same traces, in whatever order they come, and part of a larger one', async () => {
    const forward = await idsOf(many(numbers, 'forward.jsonl'), 10);
    expect(await idsOf(many(numbers.toReversed(), 'backward.jsonl'), 10)).toEqual(forward);
    expect((await idsOf(join(dir, 'forward.jsonl'), 20)).slice(0, 10)).toEqual(forward);
    expect(new Set(forward).size).toBe(10);
  });

  it('has a trace that the file holds twice once', async () => {
    expect(await idsOf(many([1, 1, 2], 'twice.jsonl'), 10)).toHaveLength(2);
  });

  it('comes from all over the file', async () => {
    const places = (await idsOf(join(dir, 'forward.jsonl'), 40)).map((id) => Number(id.split('-')[1]));
    for (const quarter of [0, 50, 100, 150])
      expect(places.filter((place) => place >= quarter && place < quarter + 50).length).toBeGreaterThan(3);
  });
});
