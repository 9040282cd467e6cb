import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { receivedTrace } from '#contracts';
import { sessionKey } from '#domain/ids';
import { openGateway, type Fixture } from './fixture.js';
import { at, insertSession } from './rows.js';

let fixture: Fixture;

interface Row {
  readonly trace: string;
  readonly second: number;
  readonly project?: string;
  readonly session?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly turn?: { readonly session: string; readonly t: number };
}

async function insertTrace({ trace, second, project = 'default', session, state = 'open', reason, turn }: Row): Promise<void> {
  await fixture.db.query(
    `INSERT INTO scoring.otel_traces (project, trace_id, session, state, reason, s, t, root, spans, orphans, first_at, last_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, true, 3, 1, 'epoch'::timestamptz + $8::bigint * interval '1 microsecond', 'epoch'::timestamptz + $9::bigint * interval '1 microsecond')`,
    [
      ...[project, trace, session ?? null, state, reason ?? null],
      ...[turn === undefined ? null : sessionKey(project, turn.session), turn?.t ?? null, at(0), at(second)],
    ],
  );
}

beforeAll(async () => {
  fixture = await openGateway();
  await insertSession(fixture.db, 'said');
  await insertTrace({ trace: 'a', second: 5, session: 'said', state: 'turned', turn: { session: 'said', t: 12 } });
  await insertTrace({ trace: 'b', second: 4, state: 'unassigned', reason: 'no session: none of its spans names one' });
  await insertTrace({ trace: 'c', second: 3, session: 'said' });
  await insertTrace({ trace: 'die Größe ☂', second: 3, state: 'named' });
  await insertTrace({ trace: 'foreign', second: 9, project: 'other' });
}, 60_000);

afterAll(async () => {
  await fixture.close();
}, 30_000);

const list = async (query = '') => (await fixture.call('GET', `/v1/traces${query}`)).body;
const ids = (items: readonly Record<string, unknown>[]): unknown[] => items.map(({ trace_id: id }) => id);

describe('GET /v1/traces', () => {
  it('lists the traces of the project, newest first, with the turn of each or the reason why it has none', async () => {
    const { items, next_cursor: next } = await list();
    expect(next).toBeNull();
    expect(ids(items).slice(0, 2)).toEqual(['a', 'b']);
    expect(new Set(ids(items).slice(2))).toEqual(new Set(['c', 'die Größe ☂']));
    expect(items.map((item) => receivedTrace.parse(item))).toEqual(items);
    expect(items[0]).toEqual({
      ...{ trace_id: 'a', session_id: 'said', state: 'turned', reason: null, turn: { session_id: 'said', turn_index: 12 } },
      ...{ root_ended: true, spans: 3, orphans: 1, first_at: at(0), last_at: at(5) },
    });
    expect(items[1]).toMatchObject({ session_id: null, turn: null, reason: expect.stringContaining('no session') });
  });

  it('turns pages without loss or repetition, whatever the ids are', async () => {
    const seen: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: Record<string, unknown>[]; next_cursor: string | null } = await list(
        `?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...ids(page.items));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(ids((await list()).items));
  });

  it('narrows down to a state or a session', async () => {
    expect(ids((await list('?state=unassigned')).items)).toEqual(['b']);
    expect(ids((await list('?session=said')).items)).toEqual(['a', 'c']);
    expect((await fixture.call('GET', '/v1/traces?state=lost')).status).toBe(422);
  });
});
