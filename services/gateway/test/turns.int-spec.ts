import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { turnEnded, type Turn as TurnFields } from '#contracts';
import { parseJson } from '#ingest';
import { eventually } from '#testing';
import { openGateway, turn, type Fixture } from './fixture.js';

const MIB = 1024 * 1024;
const CASES = new URL('../../../../shared/data/cases/', import.meta.url);

type Turn = TurnFields & { readonly body_ref?: string };

let fixture: Fixture;
let jsm: JetStreamManager;

beforeAll(async () => {
  fixture = await openGateway();
  jsm = await jetstreamManager(await fixture.nats.connect());
}, 60_000);

afterAll(async () => {
  await fixture.close();
}, 30_000);

/** The newest event of a session in FM_TURNS, parsed without loss, and its text. */
async function stored(session: string, type = turnEnded.type): Promise<{ value: Turn; text: string }> {
  const { state } = await jsm.streams.info('FM_TURNS');
  for (let seq = state.last_seq; seq >= state.first_seq; seq -= 1) {
    const message = await jsm.streams.getMessage('FM_TURNS', { seq });
    if (message === null || !message.subject.endsWith(type)) continue;
    const text = message.string();
    const value = parseJson(text).value as Turn;
    if (value.session_id === session) return { value, text };
  }
  throw new Error(`nothing stored of ${session}`);
}

const post = (body: unknown, headers?: Record<string, string>) =>
  fixture.call('POST', '/v1/turns', { body, ...(headers === undefined ? {} : { headers }) });

describe('POST /v1/turns', () => {
  it('answers 202 with a result for each item once they are stored', async () => {
    const { status, body } = await post([turn('first', 0), turn('first', 1)]);
    expect(status).toBe(202);
    expect(body).toEqual({
      accepted: 2,
      rejected: 0,
      results: [0, 1].map((index) => ({ index, status: 'accepted', session_id: 'first', turn_index: index, notes: [] })),
    });
    expect((await stored('first')).value).toMatchObject({ turn_index: 1, traces: [{ trace_id: 'first-1' }] });
  });

  it('takes one turn alone', async () => {
    expect((await post(turn('alone', 0))).body).toMatchObject({ accepted: 1 });
  });

  it('takes gzip, and says what it does not take', async () => {
    const bytes = gzipSync(JSON.stringify(turn('zipped', 0)));
    expect((await post(bytes, { 'content-encoding': 'gzip' })).status).toBe(202);
    expect(await post(bytes, { 'content-encoding': 'zstd' })).toMatchObject({
      status: 415,
      body: { detail: expect.stringContaining('gzip') },
    });
    expect(await post('no gzip', { 'content-encoding': 'gzip' })).toMatchObject({
      status: 400,
      body: { title: 'The request cannot be read' },
    });
  });

  it('gives the turn no message id, so that a foreign one cannot suppress it', async () => {
    await post(turn('no-id', 0, { event_id: 'chosen-by-the-agent' }));
    const { state } = await jsm.streams.info('FM_TURNS');
    const message = await jsm.streams.getMessage('FM_TURNS', { seq: state.last_seq });
    expect(message?.header.has('Nats-Msg-Id')).toBe(false);
  });

  it('redacts secrets before anything is stored', async () => {
    await post(
      turn('secret', 0, { metadata: { api_key: 'plain-value', note: 'Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789' } }),
    );
    const { text } = await stored('secret');
    expect(text).not.toContain('plain-value');
    expect(text).not.toContain('sk-abcdefghijklmnopqrstuvwxyz0123456789');
  });

  it('puts the turn into the project of the key, whatever the body says', async () => {
    await post({ ...turn('projectless', 0), project: 'other' });
    const { state } = await jsm.streams.info('FM_TURNS');
    expect((await jsm.streams.getMessage('FM_TURNS', { seq: state.last_seq }))?.subject).toBe('fm.default.turn.ended');
  });
});

const LONG_ID = 'a/b.c*d>'.repeat(125);

/** Each in the middle of a batch of good turns. */
const badItems: [string, unknown, { path: string; message: RegExp }][] = [
  ['a wrong type', turn('bad', 0, { traces: 'none' }), { path: 'traces', message: /expected array.*trace_ids/ }],
  ['no session', { turn_index: 0 }, { path: 'session_id', message: /send the session's own id/ }],
  ['an empty session', turn('', 0), { path: 'session_id', message: /1 to 255/ }],
  ['a negative turn index', turn('bad', -1), { path: 'turn_index', message: /0, 1, 2/ }],
  ['a turn index that is text', turn('bad', '3' as unknown as number), { path: 'turn_index', message: /expected number/ }],
  ['a turn index with a fraction', turn('bad', 1.5), { path: 'turn_index', message: /0, 1, 2/ }],
  ['an id of 1,000 characters', turn(LONG_ID, 0), { path: 'session_id', message: /255/ }],
  [
    'a time that is none',
    turn('bad', 0, { traces: [{ trace_id: 't', started_at: 'yesterday' }] }),
    { path: 'traces.0.started_at', message: /RFC 3339/ },
  ],
  ['a text instead of a turn', 'turn', { path: '', message: /object/ }],
  ['null instead of a turn', null, { path: '', message: /object/ }],
  ['a list in a list', [turn('nested', 0)], { path: '', message: /object/ }],
];

describe('a bad item', () => {
  it.each(badItems)('%s is refused with its path and what to do, and the rest goes through', async (name, item, wanted) => {
    const session = `rest-${name.replace(/\W/g, '-')}`;
    const { status, body } = await post([turn(session, 0), item, turn(session, 1)]);
    expect(status).toBe(202);
    expect(body).toMatchObject({ accepted: 2, rejected: 1 });
    expect(body.results.map((one) => one.status)).toEqual(['accepted', 'rejected', 'accepted']);
    const error = body.results[1]?.error;
    expect(error).toMatchObject({ status: 422, title: 'The turn is not valid' });
    const found = error?.errors?.find(({ path }) => path === wanted.path);
    expect(found?.message).toMatch(wanted.message);
    expect((await stored(session)).value.turn_index).toBe(1);
  });

  it('alone answers 422 as a problem that has the results too', async () => {
    const { status, headers, body } = await post({ turn_index: -1 });
    expect(status).toBe(422);
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(body).toMatchObject({ type: 'urn:fleetmend:problem:nothing-accepted', status: 422, accepted: 0, rejected: 1 });
    expect(body.errors.map(({ path }) => path).sort()).toEqual(['session_id', 'turn_index']);
  });

  it('of a list is named with its place', async () => {
    const { status, body } = await post([{}, 7]);
    expect(status).toBe(422);
    expect(body.errors.map(({ path }) => path)).toEqual(['0.session_id', '0.turn_index', '1']);
  });
});

describe('a body that is', () => {
  it('no JSON is answered 400 with the place', async () => {
    expect(await post('{"session_id": "x", turn_index}')).toMatchObject({
      status: 400,
      body: { title: 'The body is not JSON', detail: expect.stringMatching(/line 1, column 21/) },
    });
  });

  it('empty is answered 400', async () => {
    expect(await post('')).toMatchObject({ status: 400, body: { detail: expect.stringContaining('empty') } });
  });

  it('an empty list is answered 422', async () => {
    expect(await post([])).toMatchObject({ status: 422, body: { detail: expect.stringContaining('empty') } });
  });

  it('of another content type is answered 415 with what to send', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      expect(await post(JSON.stringify(turn('typed', 0)), { 'content-type': type })).toMatchObject({
        status: 415,
        body: { detail: expect.stringContaining('Content-Type: application/json') },
      });
    }
    expect((await post(turn('typed', 0), { 'content-type': 'application/json; charset=utf-8' })).status).toBe(202);
  });

  it('a list of more than 10,000 items is answered 413', async () => {
    expect(await post(`[${'0,'.repeat(10_000)}0]`)).toMatchObject({
      status: 413,
      body: { detail: expect.stringContaining('10000') },
    });
  });

  it('nested too deep is answered 400', async () => {
    expect((await post('['.repeat(100_000))).status).toBe(400);
  });
});

describe('what JSON does not allow', () => {
  it('NaN and Infinity become null, with a note', async () => {
    const { status, body } = await post('{"session_id": "nan", "turn_index": 0, "metadata": {"loss": NaN, "best": -Infinity}}');
    expect(status).toBe(202);
    expect(body.results[0]?.notes).toEqual(['NaN and Infinity became null']);
    expect((await stored('nan')).value.metadata).toEqual({ loss: null, best: null });
  });

  it('NUL characters and lone surrogates become U+FFFD, with a note', async () => {
    const { status, body } = await post(
      '{"session_id": "nul", "turn_index": 0, "task_summary": "a\\u0000b\\ud800c", "metadata": {"k\\u0000": 1}}',
    );
    expect(status).toBe(202);
    expect(body.results[0]?.notes).toHaveLength(2);
    expect((await stored('nul')).value).toMatchObject({ task_summary: 'a\ufffdb\ufffdc', metadata: { 'k\ufffd': 1 } });
  });

  it('in a session id are replaced too', async () => {
    const { body } = await post('{"session_id": "s\\u0000id", "turn_index": 0}');
    expect(body.results[0]).toMatchObject({ status: 'accepted', session_id: 's\ufffdid' });
  });
});

describe('a large turn', () => {
  const big = (session: string, bytes: number): Record<string, unknown> =>
    turn(session, 0, { traces: [{ trace_id: 't', started_at: 1_769_000_000, output: 'x'.repeat(bytes) }] });

  async function bodyOf(session: string): Promise<{ value: Turn; bytes: number }> {
    const { value } = await stored(session);
    expect(value).toEqual({ session_id: session, turn_index: 0, body_ref: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const [row] = await fixture.db.query<{ body: Buffer; project: string }>(
      'SELECT body, project FROM edge.bodies WHERE hash = $1',
      [value.body_ref],
    );
    expect(row?.project).toBe('default');
    const bytes = row?.body ?? Buffer.alloc(0);
    return { value: parseJson(bytes).value as Turn, bytes: bytes.length };
  }

  it('of up to 512 KiB travels in the event', async () => {
    await post(big('half', 500 * 1024));
    expect((await stored('half')).value.traces).toHaveLength(1);
  });

  it('of 2 MiB is stored in Postgres and named in the event', async () => {
    expect((await post(big('two', 2 * MIB))).status).toBe(202);
    expect((await bodyOf('two')).value.traces?.[0]?.output).toHaveLength(2 * MIB);
  });

  it('sent twice is stored once', async () => {
    await post([big('twice', MIB), big('twice', MIB)]);
    const { value } = await stored('twice');
    expect(await fixture.db.query('SELECT 1 FROM edge.bodies WHERE hash = $1', [value.body_ref])).toHaveLength(1);
  });

  it('of more than 16 MiB is cut, with a note', async () => {
    const { status, body } = await post(big('twenty', 20 * MIB));
    expect(status).toBe(202);
    expect(body.results[0]?.notes).toEqual([expect.stringContaining('16 MiB')]);
    const { value, bytes } = await bodyOf('twenty');
    expect(bytes).toBeLessThanOrEqual(16 * MIB);
    expect(value.traces?.[0]?.output).toContain('…[cut ');
  });

  it('whose ids alone are more than 16 MiB is refused, and the rest goes through', async () => {
    const spans = Array.from({ length: 70_000 }, (_, at) => ({ span_id: `${'i'.repeat(240)}${at}`, name: 'n' }));
    const huge = turn('skeleton', 0, { traces: [{ trace_id: 't', started_at: 1_769_000_000, spans }] });
    const { status, body } = await post([huge, turn('beside', 0)]);
    expect(status).toBe(202);
    expect(body.results[0]).toMatchObject({ status: 'rejected', error: { status: 413 } });
  }, 30_000);

  it('of 70 MiB is answered 413 while other requests go through', async () => {
    const bytes = Buffer.alloc(70 * MIB, 0x20);
    const [large, small] = await Promise.all([post(bytes), post(turn('meanwhile', 0))]);
    expect(large).toMatchObject({
      status: 413,
      body: { type: 'urn:fleetmend:problem:too-large', detail: expect.stringContaining('64 MiB') },
    });
    expect(small.status).toBe(202);
    expect((await post(turn('after', 0))).status).toBe(202);
  }, 30_000);

  it('that unpacks to more than 64 MiB is answered 413', async () => {
    expect((await post(gzipSync(Buffer.alloc(70 * MIB, 0x20)), { 'content-encoding': 'gzip' })).status).toBe(413);
  }, 30_000);
});

interface CaseInput {
  readonly name: string;
  readonly body?: {
    readonly text?: string;
    readonly generate?: readonly { name: string; unit?: string; bytes: number; span?: string }[];
  };
  readonly bodyText?: string;
}

function inputsOf(file: string): readonly CaseInput[] {
  return (JSON.parse(readFileSync(new URL(file, CASES), 'utf8')) as { inputs: CaseInput[] }).inputs;
}

describe('cases that broke others', () => {
  it('14: NUL bytes in output, reason and key are stored; the six typed characters survive', async () => {
    for (const { name, body, bodyText } of inputsOf('14-nul-byte-jsonb.json')) {
      const text = `{"session_id": "c14-${name}", "turn_index": 0, "metadata": ${bodyText ?? JSON.stringify(body)}}`;
      expect((await post(text)).status).toBe(202);
      const event = await stored(`c14-${name}`);
      expect(event.text).not.toMatch(/(?<!\\)\\u0000/);
      if (name === 'literal-backslash-u0000') expect(event.value.metadata?.['text']).toBe(body?.text);
    }
  });

  it('17: a number of seventeen digits keeps its last one', async () => {
    const [, { bodyText = '' } = {}] = inputsOf('17-bigint-ids-as-strings.json');
    expect((await post(`{"session_id": "c17", "turn_index": 0, "metadata": ${bodyText}}`)).status).toBe(202);
    expect((await stored('c17')).text).toContain('76561198016705746');
  });

  it('17: turn indices past 2^53 are refused rather than rounded', async () => {
    const { status, body } = await post('{"session_id": "c17", "turn_index": 9007199254740993}');
    expect(status).toBe(422);
    expect(body.errors[0]?.path).toBe('turn_index');
  });

  it('20: large turns are accepted, and a small one right after', async () => {
    const [{ body } = {}] = inputsOf('20-oversize-turn-event.json');
    for (const { name, unit = 'y', bytes, span = 'span' } of body?.generate ?? []) {
      const output = unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes);
      const item = turn(`c20-${name}`, 0, {
        traces: [{ trace_id: 't', started_at: 1, spans: [{ span_id: 's', name: span, output }] }],
      });
      expect((await post(item)).status).toBe(202);
      expect((await stored(`c20-${name}`)).value).toHaveProperty(bytes > 512 * 1024 ? 'body_ref' : 'traces');
    }
  });
});

describe('POST /v1/sessions/{id}/end', () => {
  it('publishes the end, also of a session whose id is a path of its own', async () => {
    const id = 'a/b.c*d>e f';
    const { status, body } = await fixture.call('POST', `/v1/sessions/${encodeURIComponent(id)}/end`, {
      body: { reason: 'done' },
    });
    expect({ status, body }).toEqual({ status: 202, body: { session_id: id, notes: [] } });
    expect((await stored(id, 'session.ended')).value).toEqual({ session_id: id, reason: 'done' });
  });

  it('needs no body', async () => {
    expect((await fixture.call('POST', '/v1/sessions/quiet/end')).status).toBe(202);
  });

  it('refuses an id of 1,000 characters with its length', async () => {
    const { status, body } = await fixture.call('POST', `/v1/sessions/${encodeURIComponent(LONG_ID)}/end`);
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ path: 'path.id', message: expect.stringContaining('255') }]);
  });
});

describe('POST /v1/scores', () => {
  it('publishes score.posted and refuses what is no score', async () => {
    const good = {
      session_id: 'scored',
      turn_index: 3,
      scores: [{ metric: 'outcome_correct', value: 0.25, reason: 'wrong total' }],
    };
    const { status, body } = await fixture.call('POST', '/v1/scores', {
      body: [good, { session_id: 'scored', turn_index: 3, scores: [] }],
    });
    expect(status).toBe(202);
    expect(body.results[1]?.error?.errors?.[0]).toMatchObject({
      path: 'scores',
      message: expect.stringContaining('send 1 to 50'),
    });
    expect((await stored('scored', 'score.posted')).value).toEqual(good);
  });
});

it('turns of the gateway reach a durable consumer', async () => {
  await post(turn('consumed', 0));
  const consumer = await jetstream(await fixture.nats.connect()).consumers.get('FM_TURNS', 'scoring-turns');
  const message = await eventually(async () => {
    const next = await consumer.next({ expires: 1_000 });
    next?.ack();
    return next?.string().includes('"consumed"') ? next : null;
  }, 20_000);
  expect(message.subject).toBe('fm.default.turn.ended');
});
