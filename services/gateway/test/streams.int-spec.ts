import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { breakerOpened, noticePosted, noticeResolved, sessionRecovered, type EventContract } from '#contracts';
import { eventually } from '#testing';
import { openGateway, type Fixture } from './fixture.js';
import { insertKey, insertNotice } from './rows.js';

let fixture: Fixture;
let js: JetStreamClient;
beforeAll(async () => {
  fixture = await openGateway();
  js = jetstream(await fixture.nats.connect());
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 30_000);
beforeEach(async () => {
  await fixture.db.query('DELETE FROM mailbox.notices');
});

interface Seen {
  readonly event: string | undefined;
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

/** Reads a stream as it comes; `ended` when the gateway ends it. */
async function follow(headers: Record<string, string> = {}, base = fixture.url) {
  const abort = new AbortController();
  const response = await fetch(`${base}/v1/notices/stream`, { headers, signal: abort.signal });
  const seen: Seen[] = [];
  const state = { ended: false };
  void (async () => {
    let text = '';
    try {
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString();
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) if (block.includes('data: ')) seen.push(parsed(block));
      }
    } catch {
      // Aborted by the test.
    }
    state.ended = true;
  })();
  return { response, seen, state, stop: () => abort.abort() };
}

function parsed(block: string): Seen {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  return { event: field('event'), id: field('id'), data: JSON.parse(field('data') ?? '{}') as Record<string, unknown> };
}

const publish = (event: EventContract, tail: string[], payload: object, project = 'default') =>
  js.publish(event.subject(project, ...tail), JSON.stringify(payload));
const contract = (event: unknown): EventContract => event as EventContract;
const noticeId = (ms: number): string => `n-${ms.toString(16).padStart(12, '0')}-0000000000000000`;
/** The time that rows.ts counts from, in milliseconds. */
const START_MS = 1_790_000_000_000;

describe('GET /v1/notices/stream', () => {
  it('sends notices, recoveries and the breaker as they are stored, of its own project only', async () => {
    const { response, seen, stop } = await follow();
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await publish(contract(noticePosted), ['breach', 's-1'], { id: noticeId(1), summary: 'two\nlines' });
    await publish(contract(noticePosted), ['breach', 's-1'], { id: noticeId(2) }, 'other');
    await publish(contract(noticeResolved), ['corrected', 's-1'], { notice_ids: [noticeId(1)] });
    await publish(contract(sessionRecovered), ['s-1'], { session_id: 's-1' });
    await publish(contract(breakerOpened), [], { counted: 5 });
    await eventually(() => seen.length >= 4);
    expect(seen.map(({ event, id }) => [event, id])).toEqual([
      ['notice.posted', noticeId(1)],
      ['notice.resolved', undefined],
      ['session.recovered', undefined],
      ['breaker.opened', undefined],
    ]);
    expect(seen[0]?.data['summary']).toBe('two\nlines');
    stop();
  }, 30_000);

  it('resumes from the table after the last notice, without those that were never posted', async () => {
    for (const second of [0, 20, 30, 40])
      await insertNotice(fixture.db, noticeId(START_MS + second * 1_000), { second, t: second });
    await insertNotice(fixture.db, noticeId(START_MS + 35_000), { second: 35, status: 'suppressed' });
    await insertNotice(fixture.db, noticeId(START_MS + 36_000), { second: 36, status: 'suppressed', t: 36 });
    await fixture.db.query("UPDATE mailbox.notices SET status = 'corrected' WHERE t = 36");
    const { seen, stop } = await follow({ 'last-event-id': noticeId(START_MS + 20_000) });
    await eventually(() => seen.length >= 3);
    expect(seen.map(({ id }) => id)).toEqual([20, 30, 40].map((second) => noticeId(START_MS + second * 1_000)));
    await publish(contract(noticePosted), ['breach', 's'], { id: noticeId(START_MS + 40_000) });
    await publish(contract(noticePosted), ['breach', 's'], { id: noticeId(START_MS + 50_000) });
    await eventually(() => seen.length >= 4);
    expect(seen.at(-1)?.id).toBe(noticeId(START_MS + 50_000));
    stop();
  }, 30_000);

  it('begins with what comes now when the last id is no notice', async () => {
    await insertNotice(fixture.db, noticeId(START_MS));
    const { seen, stop } = await follow({ 'last-event-id': "x'; DROP TABLE" });
    await publish(contract(sessionRecovered), ['s'], { session_id: 's' });
    await eventually(() => seen.length >= 1);
    expect(seen.map(({ event }) => event)).toEqual(['session.recovered']);
    stop();
  }, 30_000);

  it('ends when the gateway stops', async () => {
    const other = await fixture.another();
    const { state } = await follow({}, other.url);
    const began = Date.now();
    await other.stop();
    await eventually(() => state.ended);
    expect(Date.now() - began).toBeLessThan(2_000);
  }, 30_000);

  it('goes on after the broker was away, with what was posted meanwhile', async () => {
    const { seen, stop } = await follow();
    await fixture.nats.stop();
    const now = Date.now();
    await insertNotice(fixture.db, noticeId(now), { second: (now - START_MS) / 1_000 });
    await fixture.nats.start();
    await eventually(() => seen.length >= 1, 15_000);
    expect(seen[0]?.id).toBe(noticeId(now));
    stop();
  }, 60_000);

  it('ends within a second when its key is revoked', async () => {
    await insertKey(fixture.db, 'fm_default_watch', ['observe']);
    await insertKey(fixture.db, 'fm_default_stays', ['observe']);
    await sleep(1_000);
    const headers = (key: string) => ({ authorization: `Bearer ${key}` });
    const revoked = await follow(headers('fm_default_watch'));
    const stays = await follow(headers('fm_default_stays'));
    await fixture.db.query("UPDATE edge.api_keys SET revoked_at = now() WHERE id = md5('fm_default_watch')");
    await eventually(() => revoked.state.ended, 1_200);
    expect(stays.state.ended).toBe(false);
    stays.stop();
  }, 30_000);
});
