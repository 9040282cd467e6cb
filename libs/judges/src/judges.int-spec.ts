import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inMemoryCapabilities, ModelEndpoint, priceTable, tokenCounter } from '#llm';
import { answer, answerJson, type ModelRequest, modelServer, type ModelServer, status } from '#testing';
import { booking, taskFor, toolSpan, trace } from '../fixtures/traces.js';
import { judge, judgedMetrics, type JudgeModel } from './index.js';

const PRICE = { inputPerMillion: 10, outputPerMillion: 100 };

let server: ModelServer;
let model: JudgeModel;

beforeAll(async () => {
  server = await modelServer();
  const endpoint = new ModelEndpoint(
    { baseUrl: server.url, timeoutMs: 5000, concurrency: 4, maxWaitMs: 0 },
    { capabilities: inMemoryCapabilities(), prices: priceTable({ scripted: PRICE }) },
  );
  const countTokens = await tokenCounter();
  model = { countTokens, ask: (question) => endpoint.structured({ ...question, model: 'scripted' }) };
});
afterAll(() => server.close());

/** The name of the question that a request asks. */
const nameOf = ({ body }: ModelRequest): string =>
  (body['response_format'] as { json_schema?: { name?: string } } | undefined)?.json_schema?.name ?? 'none';
const textOf = ({ body }: ModelRequest): string =>
  (body['messages'] as { content: string }[]).map(({ content }) => content).join('\n');

/** Answers by the name of what is asked. */
const script = (answers: Readonly<Record<string, object>>): void => {
  server.script((request) => {
    const value = answers[nameOf(request)];
    return value === undefined ? status(400, { error: { message: `no answer to ${nameOf(request)}` } }) : answerJson(value);
  });
};

const verdict = (value: unknown) => ({ reason: 'the evidence', verdict: value });
const extractions = {
  task_and_outcome: { task: 'book the cheapest flight', outcome: 'LH1 was booked for 90 euros' },
  tools: { asked: 'a flight', called: [{ tool: 'search', purpose: 'find', result: 'LH1' }], available: [] },
  plan: {
    steps: [
      { step: 'search', quote: 'Search the  flights' },
      { step: 'made up', quote: 'Pay by card' },
    ],
  },
};

describe('judges against a model server', () => {
  it.each([
    ['task_completion', verdict(0.75), 0.75, 2],
    ['tool_correctness', verdict('0.5'), 0.5, 2],
    ['step_efficiency', verdict(0.25), 0.25, 2],
    ['plan_adherence', verdict(1), 1, 3],
    ['plan_quality', verdict(0), 0, 3],
    ['confidence', verdict(0.6), 0.6, 1],
    [
      'argument_correctness',
      {
        verdicts: [
          { id: 'c1', reason: 'fits', correct: 'yes' },
          { id: '[c2]', reason: 'wrong day', correct: 'no' },
        ],
      },
      0.5,
      1,
    ],
  ])('%s is made of the model’s answers, and its usage of all calls', async (metric, last, value, calls) => {
    script({ ...extractions, [metric]: last });
    const before = server.requests.length;
    const outcome = await judge(taskFor(metric, booking), model);
    expect(outcome).toMatchObject({ status: 'scored', value });
    expect(server.requests.length - before).toBe(calls);
    // Every scripted answer says 12 tokens in and 7 out.
    expect(outcome.usage).toMatchObject({ calls, inputTokens: 12 * calls, outputTokens: 7 * calls });
    expect(outcome.usage.costUsd).toBeCloseTo((calls * (12 * PRICE.inputPerMillion + 7 * PRICE.outputPerMillion)) / 1e6, 12);
    expect(server.requests.slice(before).every(({ body }) => body['temperature'] === 0)).toBe(true);
  });

  it('asks for strict JSON schemas only: every question has one that a provider can enforce', async () => {
    script({ ...extractions, ...Object.fromEntries(judgedMetrics.map((metric) => [metric, verdict(1)])) });
    const before = server.requests.length;
    for (const metric of judgedMetrics.filter((name) => name !== 'argument_correctness'))
      await judge(taskFor(metric, booking), model);
    script({ argument_correctness: { verdicts: [] } });
    await judge(taskFor('argument_correctness', booking), model);
    for (const { body } of server.requests.slice(before)) {
      expect(body['response_format']).toMatchObject({ type: 'json_schema', json_schema: { strict: true } });
    }
  });

  it('an own judge is made of its definition', async () => {
    const definition = { prompt: 'How kind is {{answer}}?', output: { kind: 'choice', values: { kind: 1, cold: 0.2 } } } as const;
    script({ kindness: { reason: 'curt', answer: 'cold' } });
    expect(await judge(taskFor('kindness', booking, { definition }), model)).toMatchObject({ status: 'scored', value: 0.2 });
    expect(textOf(server.requests.at(-1)!)).toContain('How kind is \n<data-1 name="answer">\nLH1 is booked');
  });

  it.each(['nan', 'Infinity', 85, '8/10', '80%', 1.0000001, -0.2, null, true, [0.8]])(
    'a verdict of %j is refused after one more try: no value, neither 0 nor 1',
    async (said) => {
      script({ confidence: verdict(said) });
      const outcome = await judge(taskFor('confidence', booking), model);
      expect(outcome).toMatchObject({ status: 'failed', code: 'invalid_output', value: null, usage: { calls: 2 } });
    },
  );

  it('a model that left out a call is told which, and its second answer counts', async () => {
    const yes = (...ids: string[]) => answerJson({ verdicts: ids.map((id) => ({ id, reason: 'fits', correct: 'yes' })) });
    server.script([yes('c1'), yes('c1', 'c2')]);
    const outcome = await judge(taskFor('argument_correctness', booking), model);
    expect(outcome).toMatchObject({ status: 'scored', value: 1, usage: { calls: 2 } });
    expect(textOf(server.requests.at(-1)!)).toContain('no verdict for c2');
  });

  it('a text over the context is shortened once, then too large', async () => {
    const long = trace(Array.from({ length: 40 }, (_, at) => toolSpan(`s${at}`, { output: `${at} ${'word '.repeat(300)}` })));
    const tooLong = status(400, { error: { code: 'context_length_exceeded', message: 'maximum context length is 100 tokens' } });
    server.script([tooLong, answerJson(verdict(0.9))]);
    const before = server.requests.length;
    expect(await judge(taskFor('confidence', long), model)).toMatchObject({ status: 'scored', value: 0.9 });
    const [first = '', second = ''] = server.requests.slice(before).map(textOf);
    expect(second.length).toBeLessThan(first.length);
    server.script([tooLong, tooLong]);
    expect(await judge(taskFor('confidence', long), model)).toMatchObject({ status: 'failed', code: 'too_large', value: null });
  });

  it('a declined text fails that score alone', async () => {
    server.script([answer(null, { refusal: 'I cannot evaluate this.' })]);
    expect(await judge(taskFor('confidence', booking), model)).toMatchObject({ status: 'failed', code: 'content', value: null });
  });

  it('a refused key is thrown, with what was spent before', async () => {
    server.script([answerJson(extractions.task_and_outcome), status(401, { error: { message: 'bad key' } })]);
    const thrown = judge(taskFor('task_completion', booking), model);
    await expect(thrown).rejects.toMatchObject({ kind: 'auth', usage: { inputTokens: 12, outputTokens: 7 } });
  });
});
