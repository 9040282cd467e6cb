import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { answer, eventually, hang, json, reset, status, truncated, type ModelRequest, type Reply } from '#testing';
import { ack, add, readNotice, RepairScene, resolve, ruleOf, speaking } from './repair-scene.js';

/** Real inputs, read where they are: they are no part of this repository. */
const CASES = '../shared/data/cases';
const present = existsSync(CASES);
if (!present) console.info('Skipped: the cases in ../shared/data are absent.');

let scene: RepairScene;
beforeAll(async () => {
  scene = await RepairScene.open();
});
beforeEach(() => scene.reset());
afterAll(() => scene.close());

const first = (of: { notices: readonly string[] }): string => of.notices[0] ?? '';
const resolving = (planted: { notices: readonly string[] }): Reply => speaking([resolve(first(planted), 'unactionable')]);

interface Input {
  readonly name: string;
  readonly body: unknown;
}

function inputsOf(file: string): Input[] {
  if (!present) return [{ name: 'absent', body: [{ status: 400, body: {} }] }];
  return (JSON.parse(readFileSync(`${CASES}/${file}`, 'utf8')) as { inputs: Input[] }).inputs;
}

/** The tools of the cases under the names that ours have. */
function renamed(body: unknown): unknown {
  const text = JSON.stringify(body).replaceAll('list_rules', 'harness_rules_list');
  return JSON.parse(text.replaceAll('read_rule', 'harness_rules_read')) as unknown;
}

/** What a request tells the model of the calls that it made before. */
function history(request: ModelRequest | undefined): { readonly arguments: string }[] {
  const messages = (request?.body['messages'] ?? []) as { tool_calls?: { function: { arguments: string } }[] }[];
  return messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function));
}

describe('a model that writes arguments its own way', () => {
  const good = new Set(['empty-schema', 'trailing', 'empty-string', 'null', 'object-not-string', 'double-encoded']);

  (present ? it : it.skip).each(inputsOf('25-tool-args-trailing-bytes.json').map(({ name, body }) => [name, body] as const))(
    'is understood, or told what is wrong: %s',
    async (name, body) => {
      const result = await scene.repaired({}, (planted) => [json(renamed(body)), resolving(planted)]);
      const [said] = scene.answers();
      expect(said?.['ok']).toBe(good.has(name));
      if (!good.has(name)) expect(said?.['error']).toMatch(/nothing was executed/);
      for (const call of history(scene.models.requests.at(-1))) expect(JSON.parse(call.arguments)).toBeInstanceOf(Object);
      expect(result).toMatchObject({ status: 'unactionable', usage: { input_tokens: 31 - 7, output_tokens: 14 } });
    },
  );
  it('can correct what was malformed on its next turn', async () => {
    const result = await scene.repaired({}, (planted) => [
      [['harness_rule_add', '{"rule": "Check the bill first.", "rationale": "It was']],
      [add(), ack(first(planted), ruleOf(planted))],
    ]);
    expect(scene.answers()[0]?.['error']).toMatch(/cut off/);
    expect(result).toMatchObject({ status: 'candidate_added', turns: 2 });
  });
});

describe('a model whose finish reason lies', () => {
  const called = new Set(['stop-with-calls']);

  (present ? it : it.skip).each(inputsOf('28-finish-reason-lies.json').map(({ name, body }) => [name, body] as const))(
    'is taken by what it sent: %s',
    async (name, body) => {
      const result = await scene.repaired({}, (planted) => [json(renamed(body)), resolving(planted)]);
      expect(result.status).toBe('unactionable');
      expect(scene.answers().filter(({ ok }) => ok)).toHaveLength(called.has(name) ? 1 : 0);
      expect(scene.instructions().filter((text) => text.startsWith('Only tool calls count'))).toHaveLength(
        called.has(name) ? 0 : 1,
      );
    },
  );
  it('is reminded of the tools once; its second reply without a call ends the run', async () => {
    await scene.repaired({}, () => [answer('I shall look into it.'), answer('')]);
    expect(scene.results()[0]).toMatchObject({ status: 'failed', error_category: 'empty_response', turns: 2, tool_calls: 0 });
    expect(Object.values(await scene.notices())).toEqual(['pending']);
  });
});

describe('a provider that refuses a parameter', () => {
  const refusals = (inputsOf('31-reasoning-effort-rejected.json')[0]?.body ?? []) as { status: number; body: unknown }[];

  (present ? it : it.skip).each(refusals.slice(0, 4).map((refusal, at) => [at, refusal] as const))(
    'is asked once more without it, then no more, and the run says so: answer %d',
    async (at, { status: code, body }) => {
      const name = ['reasoning_effort', 'reasoning_effort', 'max_tokens', 'temperature'][at] ?? '';
      await scene.configure({ repair_model: 'gpt-5.1', repair_temperature: 0, repair_reasoning_effort: 'none' });
      const result = await scene.repaired({}, (planted) => [status(code, body), resolving(planted)]);
      expect(result).toMatchObject({ status: 'unactionable', turns: 1, usage: { calls: 2 } });
      if (name !== 'max_tokens') expect(result.usage.notes).toContain(`${name} not accepted`);
      expect(scene.models.requests.map(({ body: sent }) => name in sent)).toEqual([true, false]);
      await scene.repaired({}, (planted) => [resolving(planted)]);
      expect(scene.models.requests.at(-1)?.body).not.toHaveProperty(name);
      expect(await scene.query('SELECT model FROM repair.model_capabilities')).toEqual([{ model: 'gpt-5.1' }]);
    },
  );
  it.each([
    ['our-own', false],
    ['gpt-4o-mini', false],
    ['gpt-5.1', true],
  ])('for %s is sent a reasoning effort: %s', async (repair_model, sent) => {
    await scene.configure({ repair_model });
    await scene.repaired({}, (planted) => [resolving(planted)]);
    expect('reasoning_effort' in (scene.models.requests[0]?.body ?? {})).toBe(sent);
    expect(scene.models.requests[0]?.body).not.toHaveProperty('temperature');
  });
});

describe('a provider that fails', () => {
  it.each([
    ['a key that is not accepted', [status(401, { error: { message: 'bad key' } })], 'auth', 60],
    ['an account without credit', [status(402, { error: { message: 'no credit' } })], 'billing', 60],
    ['a model that is not there', [status(404, { error: { message: 'model not found' } })], 'config', 60],
    ['a request to wait', [status(429, {}, { 'retry-after': '1800' })], 'rate_limit', 1_800],
    ['a connection that breaks', [reset(), reset(), reset()], 'unavailable', 60],
    ['a body that is cut off', [truncated(), truncated(), truncated()], 'unavailable', 60],
  ] as const)('with %s fails the run, which is tried again later', async (_, replies, category, after) => {
    const result = await scene.repaired({}, () => [...replies]);
    expect(result).toMatchObject({ status: 'failed', error_category: category, model: 'our-own' });
    expect(Object.values(await scene.notices())).toEqual(['pending']);
    const [row] = await scene.query<{ wait: number }>(
      'SELECT round(extract(epoch FROM w.run_after - r.ended_at))::int AS wait FROM repair.work w JOIN repair.runs r USING (episode)',
    );
    expect(row?.wait).toBe(after);
    expect(await scene.work()).toMatchObject([{ state: 'waiting', waits_for: 'backoff', failures: 1, last_error: category }]);
  });
  it('says nothing of its words or of our key in the journal, and its trouble once in the health', async () => {
    const worker = await scene.worker({ repair_api_key: 'sk-own-secret-key' });
    await scene.plant();
    scene.says(status(401, { error: { message: 'the key sk-own-secret-key is not ours' } }));
    await scene.run(worker);
    const docs = JSON.stringify(await scene.query('SELECT type, doc FROM journal.events'));
    expect(docs).not.toMatch(/sk-own-secret-key|Pay the electricity/);
    expect(Object.keys(worker.health.current)).toEqual(['repair_model']);
    expect(JSON.stringify(worker.health.current)).not.toContain('sk-own-secret-key');
    await scene.later();
    scene.says([resolve((await pending())[0] ?? '', 'unactionable')]);
    await scene.run(worker);
    expect(worker.health.current).toEqual({});
  });
  it('is asked so many times for one episode, then the episode waits for an operator', async () => {
    await scene.configure({ repair_model: 'our-own', repair_attempts: 2 });
    await scene.plant();
    scene.says(status(401), status(401), status(401));
    await scene.run();
    await scene.later();
    await scene.run();
    expect(await scene.work()).toMatchObject([{ state: 'blocked', waits_for: 'operator', failures: 2 }]);
    await scene.later();
    await expect(scene.run()).rejects.toThrow('nothing could be taken');
    expect(scene.models.requests).toHaveLength(2);
  });

  async function pending(): Promise<string[]> {
    return Object.entries(await scene.notices()).flatMap(([id, state]) => (state === 'pending' ? [id] : []));
  }
});

describe('a run', () => {
  it('ends at its turn limit, with what it wrote kept for the next one', async () => {
    await scene.configure({ repair_model: 'our-own', repair_max_turns: 2 });
    const planted = await scene.plant();
    scene.says([readNotice(first(planted))], [add()]);
    expect(await scene.run()).toMatchObject({
      status: 'failed',
      error_category: 'turn_limit',
      turns: 2,
      candidate_rule_id: ruleOf(planted),
    });
    expect(await scene.rules()).toMatchObject([{ status: 'candidate' }]);
    await scene.later();
    scene.says([ack(first(planted), ruleOf(planted))]);
    expect(await scene.run()).toMatchObject({ status: 'candidate_added', run: 2, turns: 1 });
    const [system] = scene.models.requests.at(-1)?.body['messages'] as { content: string }[];
    expect(system?.content).toContain(`has written the rule ${ruleOf(planted)}`);
  });
  it('may give up what an earlier run wrote', async () => {
    const planted = await scene.plant();
    scene.says([add()], [], []);
    await scene.run();
    await scene.later();
    scene.says([resolve(first(planted), 'no_proposal')]);
    expect(await scene.run()).toMatchObject({
      status: 'no_proposal',
      candidate_rule_id: ruleOf(planted),
      existing_rule_id: null,
    });
  });
  it('ends at its token limit after one reply, and never asks for more than is left', async () => {
    await scene.configure({ repair_model: 'our-own', repair_max_tokens: 10 });
    const planted = await scene.plant();
    scene.says([readNotice(first(planted))], [readNotice(first(planted))], [readNotice(first(planted))]);
    expect(await scene.run()).toMatchObject({ status: 'failed', error_category: 'token_limit', turns: 2 });
    expect(scene.models.requests.map(({ body }) => body['max_tokens'])).toEqual([10, 3]);
  });
  it("is priced, and its cost is the project's", async () => {
    await scene.configure({ repair_model: 'gpt-4.1' });
    const result = await scene.repaired({}, (planted) => [resolving(planted)]);
    expect(result.usage.cost_usd).toBeCloseTo((12 * 2 + 7 * 8) / 1e6, 12);
    expect(await scene.query('SELECT project, cost_usd FROM scoring.spend')).toEqual([
      { project: 'default', cost_usd: result.usage.cost_usd },
    ]);
  });
});

describe('a run whose time is over', () => {
  const soon = { repair_model: 'our-own', repair_timeout_s: 0.5 };

  it('while the model is asked is timed_out, leaves the notices, and is tried again', async () => {
    await scene.configure(soon);
    const planted = await scene.plant();
    scene.says(hang());
    expect(await scene.run()).toMatchObject({ status: 'timed_out', error_category: null, model: 'our-own', usage: { calls: 1 } });
    expect(await scene.work()).toMatchObject([{ state: 'waiting', waits_for: 'backoff', failures: 1 }]);
    await scene.configure({ repair_model: 'our-own' });
    await scene.later();
    scene.says([resolve(first(planted), 'unactionable')]);
    expect(await scene.run(await scene.worker())).toMatchObject({ status: 'unactionable', run: 2 });
  });
  it.each([
    ['its episode is read', 'gating.turn_evals', 'ACCESS EXCLUSIVE', null],
    ['a trace is read', 'scoring.scores', 'ACCESS EXCLUSIVE', ['harness_trace_inspect', { trace_id: 't1' }]],
    ['its rule is stored', 'rules.versions', 'EXCLUSIVE', add()],
  ] as const)('while %s is timed_out too, and does not wait for what holds it up', async (_, table, mode, call) => {
    await scene.configure(soon);
    await scene.plant();
    scene.says(...(call === null ? [] : [[call]]), hang());
    await scene.lock(table, mode, async () => {
      expect(await scene.run()).toMatchObject({ status: 'timed_out', tool_calls: 0, candidate_rule_id: null });
    });
    expect(await scene.work()).toMatchObject([{ state: 'waiting', failures: 1 }]);
    expect(await scene.rules()).toEqual([]);
  });
  it('when the process stops is cancelled, which is no failure, and due at once', async () => {
    const planted = await scene.plant();
    const worker = await scene.worker();
    scene.says(hang());
    expect(await worker.desk.takeOne()).toBe(true);
    await eventually(() => scene.models.requests.length === 1);
    await worker.desk.stop();
    expect(scene.results()).toMatchObject([{ status: 'cancelled' }]);
    expect(await scene.work()).toMatchObject([{ state: 'waiting', waits_for: null, failures: 0, runs: 1 }]);
    scene.says([resolve(first(planted), 'unactionable')]);
    expect(await scene.run(await scene.worker())).toMatchObject({ status: 'unactionable', run: 2 });
  });
});
