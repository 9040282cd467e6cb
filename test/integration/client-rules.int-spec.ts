import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Client } from '#client';
import { eventually } from '#testing';
import { explainError } from '../../services/fleetmend/src/explain-error.js';
import { createProgram } from '../../services/fleetmend/src/program.js';
import { openGateway, type Fixture } from '../../services/gateway/test/fixture.js';
import { insertRules, sessionIn } from '../../services/gateway/test/rules.js';

const MINUTE = 60_000;
const SECOND = 1_000;

let gateway: Fixture;
let control: string;
let treatment: string;
const clients: Client[] = [];
const dir = mkdtempSync(join(tmpdir(), `fleetmend-test-${process.pid}-client-`));

beforeAll(async () => {
  gateway = await openGateway();
  await insertRules(gateway.db, [
    { id: 'r-1', rule: 'Read the order before a refund.' },
    { id: 'r-2', rule: 'Ask for the account first.', scope: 'payments' },
    { id: 'r-3', rule: 'Count the boxes.', scope: 'payments', status: 'candidate' },
  ]);
  control = await sessionIn(gateway.db, 'control', ['r-3']);
  treatment = await sessionIn(gateway.db, 'treatment', ['r-3']);
}, MINUTE);
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await gateway.close();
  rmSync(dir, { recursive: true, force: true });
}, MINUTE);

async function fleetmend(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err, code] = ['', '', 0];
  jest.spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
    out += text;
    done?.();
    return true;
  }) as typeof process.stdout.write);
  try {
    await createProgram('0', (ended) => (code = ended)).parseAsync([...args, '--url', gateway.url], { from: 'user' });
  } catch (error) {
    ({ exitCode: code, message: err = '' } = explainError(error) as { exitCode: number; message?: string });
  }
  jest.restoreAllMocks();
  return { code, out, err };
}
const json = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { code, out, err } = await fleetmend(...args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return JSON.parse(out) as Record<string, unknown>;
};

describe.each([
  ['NATS', () => connect({ url: gateway.nats.url })],
  ['HTTP', () => connect({ http: gateway.url })],
] as const)('the client over %s, with a real gateway', (way, opened) => {
  let client: Client;
  beforeAll(() => {
    client = opened();
    clients.push(client);
  });
  const scopeOf = async (session?: string): Promise<string[]> => {
    const { rules, provisional } = await client.rules.read('payments', { session });
    return [...rules, ...(provisional?.rules ?? [])].map(({ id }) => id);
  };

  it('answers the four questions as the arm of the session says', async () => {
    expect((await client.rules.list()).scopes).toMatchObject([
      { scope: 'global' },
      { scope: 'payments', active: 1, candidates: 1 },
    ]);
    expect([await scopeOf(), await scopeOf(control), await scopeOf(treatment)]).toEqual([['r-2'], ['r-2'], ['r-2', 'r-3']]);
    expect((await client.rules.search('refund order')).rules[0]).toMatchObject({ id: 'r-1' });
    expect(await client.rules.status('r-3', { session: control })).toMatchObject({ known: false });
    expect(await client.session(treatment).tools.call('harness_rule_status', { rule_id: 'r-3' })).toMatchObject({ known: true });
    await expect(client.rules.read('Not a Scope!')).rejects.toMatchObject({ kind: 'refused' });
    await expect(client.rules.search('x', { limit: 51 })).rejects.toMatchObject({ kind: 'refused' });
  });

  it('shows within a second what an operator withdraws and restores on the command line', async () => {
    expect(await scopeOf(treatment)).toContain('r-2');
    await json('rules', 'withdraw', 'r-2', '--reason', `wrong over ${way}`);
    await eventually(async () => !(await scopeOf(treatment)).includes('r-2'), SECOND);
    await json('rules', 'restore', '--scope', 'payments');
    await eventually(async () => (await scopeOf(treatment)).includes('r-2'), SECOND);
  });
});

describe('the command line, with a real gateway', () => {
  it('lists, shows, reads, searches and exports', async () => {
    expect((await json('rules', 'list', '--scope', 'payments'))['items']).toHaveLength(2);
    expect(await json('rules', 'show', 'r-1')).toMatchObject({ id: 'r-1', status: 'active' });
    expect((await json('candidates'))['items']).toMatchObject([{ id: 'r-3' }]);
    expect(await json('rules', 'read')).toMatchObject({ scope: 'global', rules: [{ id: 'r-1' }] });
    expect(await json('rules', 'search', 'refund', '--limit', '1')).toMatchObject({ rules: [{ id: 'r-1' }] });
    expect(await json('rules', 'export', dir)).toEqual({ dir, files: ['rules.md', 'rules/global.md', 'rules/payments.md'] });
    expect(readFileSync(join(dir, 'rules/payments.md'), 'utf8')).not.toContain('Count the boxes');
    const served = await gateway.call('GET', '/v1/rules/scopes/payments?format=md');
    expect(readFileSync(join(dir, 'rules/payments.md'), 'utf8')).toBe(served.text);
    expect(readFileSync(join(dir, 'rules.md'), 'utf8')).toBe((await gateway.call('GET', '/v1/rules?format=md')).text);
  });

  it('edits, retires and switches off', async () => {
    const edited = await json(
      'rules',
      'edit',
      'r-1',
      '--rule',
      'Read the whole order before a refund.',
      '--tags',
      'orders,refunds',
    );
    expect(edited).toMatchObject({ edited_from: 'r-1', status: 'candidate', tags: ['orders', 'refunds'] });
    expect(await json('rules', 'retire', String(edited['id']), '--reason', 'tried')).toMatchObject({ status: 'retired' });
    expect(await json('rules', 'withdraw', '--all')).toMatchObject({ rule_ids: expect.any(Array) });
    expect((await fleetmend('rules', 'show', 'r-none')).code).toBe(3);
    expect((await fleetmend('rules', 'approve', 'r-3')).code).toBe(2);
    expect((await fleetmend('episodes', 'show', 'e-none')).code).toBe(3);
  });
});
