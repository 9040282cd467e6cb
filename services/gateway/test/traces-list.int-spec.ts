import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { receivedTrace, receivedTraceSpans, type ReceivedTraceSpans } from '#contracts';
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
  readonly late?: number;
}

async function insertTrace({
  trace,
  second,
  project = 'default',
  session,
  state = 'open',
  reason,
  turn,
  late = 0,
}: Row): Promise<void> {
  await fixture.db.query(
    `INSERT INTO scoring.otel_traces (project, trace_id, session, state, reason, s, t, root, spans, orphans, first_at, last_at, late)
     VALUES ($1, $2, $3, $4, $5, $6, $7, true, 3, 1, 'epoch'::timestamptz + $8::bigint * interval '1 microsecond', 'epoch'::timestamptz + $9::bigint * interval '1 microsecond', $10)`,
    [
      ...[project, trace, session ?? null, state, reason ?? null],
      ...[turn === undefined ? null : sessionKey(project, turn.session), turn?.t ?? null, at(0), at(second), late],
    ],
  );
}

/** A span of the trace `a`, received at second 7. */
async function insertSpan(span: string, second: number, late: boolean, more: Record<string, unknown> = {}): Promise<void> {
  const doc = {
    name: span,
    kind: 'CHAIN',
    status: 'OK',
    model: null,
    dialect: 'plain',
    ended_at: at(second + 1),
    parent_span_id: span === 'root' ? null : 'root',
    ...more,
  };
  await fixture.db.query(
    `INSERT INTO scoring.otel_spans (project, trace_id, span_id, sha, doc, parent, ended, started, late, at)
     VALUES ('default', 'a', $1, '\\x00', $2, $3, true, $4, $5, 'epoch'::timestamptz + $6::bigint * interval '1 microsecond')`,
    [span, JSON.stringify(doc), span === 'root' ? null : 'root', at(second), late, at(7)],
  );
}

beforeAll(async () => {
  fixture = await openGateway();
  await insertSession(fixture.db, 'said');
  await insertTrace({ trace: 'a', second: 5, session: 'said', state: 'turned', turn: { session: 'said', t: 12 }, late: 2 });
  await insertTrace({ trace: 'b', second: 4, state: 'unassigned', reason: 'no session: none of its spans names one' });
  await insertTrace({ trace: 'c', second: 3, session: 'said' });
  await insertTrace({ trace: 'die Größe ☂', second: 3, state: 'named' });
  await insertTrace({ trace: 'foreign', second: 9, project: 'other' });
  await insertSpan('tool', 2, true, { name: 'pay', kind: 'TOOL', status: 'ERROR', ended_at: null });
  await insertSpan('step', 1, true);
  await insertSpan('root', 0, false);
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
      ...{ root_ended: true, spans: 3, orphans: 1, late_spans: 2, first_at: at(0), last_at: at(5) },
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

  it('narrows down to what has no session, and to what has late spans', async () => {
    expect(ids((await list('?no_session=true')).items).sort()).toEqual(['b', 'die Größe ☂']);
    expect(ids((await list('?no_session=true&state=unassigned')).items)).toEqual(['b']);
    expect(ids((await list('?late=true')).items)).toEqual(['a']);
    expect((await fixture.call('GET', '/v1/traces?late=false')).status).toBe(422);
  });
});

describe('GET /v1/traces/{id}', () => {
  const spans = async (id: string, query = '') => {
    const { status, body } = await fixture.call('GET', `/v1/traces/${encodeURIComponent(id)}${query}`);
    return { status, ...(body as unknown as ReceivedTraceSpans) };
  };

  it('is the trace with its spans by their start, late ones flagged, without what they hold', async () => {
    const { trace, items, next_cursor: next } = await spans('a');
    expect(trace).toMatchObject({ trace_id: 'a', turn: { session_id: 'said', turn_index: 12 }, late_spans: 2 });
    expect(receivedTraceSpans.parse({ trace, items, next_cursor: next })).toEqual({ trace, items, next_cursor: null });
    expect(items.map(({ span_id: id, late }) => [id, late])).toEqual([
      ['root', false],
      ['step', true],
      ['tool', true],
    ]);
    expect(items[2]).toEqual({
      ...{ span_id: 'tool', parent_span_id: 'root', name: 'pay', kind: 'TOOL', status: 'ERROR', model: null, dialect: 'plain' },
      ...{ session_id: null, started_at: at(2), ended_at: null, late: true, received_at: at(7) },
    });
  });

  it('comes in pages, and with its late spans alone', async () => {
    const first = await spans('a', '?limit=2');
    const second = await spans('a', `?limit=2&cursor=${first.next_cursor ?? ''}`);
    expect([...first.items, ...second.items].map(({ span_id: id }) => id)).toEqual(['root', 'step', 'tool']);
    expect(second.next_cursor).toBeNull();
    expect((await spans('a', '?late=true')).items.map(({ span_id: id }) => id)).toEqual(['step', 'tool']);
  });

  it('of which no span came has none; of another project, or nobody, there is none', async () => {
    expect(await spans('die Größe ☂')).toMatchObject({ status: 200, trace: { state: 'named' }, items: [] });
    expect((await spans('foreign')).status).toBe(404);
    expect((await spans('nobody')).status).toBe(404);
  });
});
