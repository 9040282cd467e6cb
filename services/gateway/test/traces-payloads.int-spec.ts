import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReceivedSpan } from '#contracts';
import { logfireRequest } from './logfire.js';
import { distinctSpans, protobufOf } from './otlp.js';
import { PROTOBUF, spanGateway } from './span-gateway.js';

const DATA = fileURLToPath(new URL('../../../../shared/data/otlp/', import.meta.url));

const { stream, post } = spanGateway();

/** Every file below a folder of the recorded payloads. */
function filesOf(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(DATA, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(DATA, folder, name));
}

interface Node {
  readonly resourceSpans?: Node[];
  readonly scopeSpans?: Node[];
  readonly spans?: { readonly traceId?: unknown; readonly spanId?: unknown }[];
}

const listOf = <T>(value: T[] | undefined): T[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];

/** The ids of a request's spans that have both as OTLP says them: those must be stored, whatever else is wrong. */
function validSpans(request: Node): string[] {
  const scopes = listOf(request.resourceSpans).flatMap(({ scopeSpans }) => listOf(scopeSpans));
  return scopes.flatMap(({ spans }) =>
    listOf(spans).flatMap(({ traceId, spanId }) => (isId(traceId, 32) && isId(spanId, 16) ? [`${traceId}|${spanId}`] : [])),
  );
}

const isId = (id: unknown, digits: number): id is string =>
  typeof id === 'string' && id.length === digits && /^[0-9a-f]+$/i.test(id) && !/^0+$/.test(id);

const idsOf = (spans: readonly ReceivedSpan[]): Set<string> => new Set(spans.map((span) => `${span.trace_id}|${span.span_id}`));

describe('payloads that made others fail', () => {
  const files = filesOf('langfuse-test-fixtures', /\.json$/);
  const stored = new Set<string>();
  let read = 0;
  /** Some files hold the same spans, and the stream drops what comes twice at once: so all that was ever stored counts. */
  const storedByNow = async (): Promise<ReadonlySet<string>> => {
    const from = read;
    read = await stream.last();
    for (const id of idsOf(await stream.spansSince(from))) stored.add(id);
    return stored;
  };

  it('are 90', () => {
    expect(files).toHaveLength(90);
  });

  it.each(files.map((file) => [basename(file), file]))(
    '%s: what is valid is stored, and what is not is said',
    async (_, file) => {
      const text = readFileSync(file, 'utf8');
      const valid = validSpans(JSON.parse(text) as Node);
      const answer = await post(text);
      // Some files hold the same spans, and the stream drops what comes twice at once: so all that is stored counts.
      const stored = idsOf(await stream.spansSince(0));
      expect(valid.filter((id) => !stored.has(id))).toEqual([]);
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 400) expect([valid.length, answer.message?.length]).toEqual([0, expect.any(Number)]);
      if (answer.partial !== undefined && answer.partial.rejectedSpans !== '0')
        expect(answer.partial.errorMessage).toMatch(/rejected: .+ \(\d+\)/);
    },
  );

  it('leave nothing behind but their valid spans', async () => {
    const wanted = new Set(files.flatMap((file) => validSpans(JSON.parse(readFileSync(file, 'utf8')) as Node)));
    expect([...(await storedByNow())].sort()).toEqual([...wanted].sort());
  });

  it('that hold nothing valid say so', async () => {
    const spoilt = files.filter((file) => /malformed|unprocessable|conversion/i.test(file));
    expect(spoilt.length).toBeGreaterThan(5);
    let told = 0;
    for (const file of spoilt) {
      const answer = await post(readFileSync(file, 'utf8'));
      if (answer.status === 400 || answer.partial !== undefined) told += 1;
    }
    expect(told).toBeGreaterThan(3);
  });
});

describe('spans as Logfire records them', () => {
  const files = filesOf('logfire-snapshots', /\.json$/);

  it('are 77 files', () => {
    expect(files).toHaveLength(77);
  });

  it.each(files.map((file) => [basename(file), file]))('%s: all are stored, from JSON and from protobuf', async (_, file) => {
    const request = logfireRequest(readFileSync(file, 'utf8'));
    const wanted = new Set(validSpans(request)).size;
    expect(wanted).toBeGreaterThan(0);
    const before = await stream.last();
    expect(await post(request)).toMatchObject({ status: 200, partial: undefined });
    expect(await post(protobufOf(request), PROTOBUF)).toMatchObject({ status: 200, partial: undefined });
    const spans = await stream.spansSince(before);
    expect(idsOf(spans).size).toBe(wanted);
    expect(distinctSpans(spans)).toHaveLength(wanted);
  });
});

describe('bodies captured from the libraries themselves', () => {
  const files = filesOf('replayed', /traces\.(json|pb)$/).filter((file) => !file.includes('openai-agents-native'));
  const bodies = files.map((file) => ({ bytes: readFileSync(file), headers: file.endsWith('.pb') ? PROTOBUF : {} }));

  it('are stored whole, of every library', async () => {
    const libraries = new Set(files.map((file) => file.slice(DATA.length).split('/')[1]));
    expect(libraries.size).toBeGreaterThanOrEqual(9);
    const before = await stream.last();
    for (const { bytes, headers } of bodies)
      expect(await post(bytes, headers)).toMatchObject({ status: 200, partial: undefined });
    const stored = idsOf(await stream.spansSince(before));
    const json = bodies
      .filter(({ headers }) => headers !== PROTOBUF)
      .flatMap(({ bytes }) => validSpans(JSON.parse(bytes.toString()) as Node));
    expect(json.filter((id) => !stored.has(id))).toEqual([]);
    expect(json.length).toBeGreaterThan(500);
    // The rest came as protobuf.
    expect(stored.size).toBeGreaterThan(new Set(json).size);
  }, 60_000);

  it('twice, all at once, and in any order give the same spans', async () => {
    const before = await stream.last();
    for (const { bytes, headers } of bodies) await post(bytes, headers);
    const once = distinctSpans(await stream.spansSince(before));
    const between = await stream.last();
    const shuffled = [...bodies, ...bodies]
      .map((body, at) => ({ body, key: (at * 7_919) % 1_009 }))
      .sort((a, b) => a.key - b.key);
    await Promise.all(shuffled.map(({ body }) => post(body.bytes, body.headers)));
    expect(distinctSpans(await stream.spansSince(between))).toEqual(once);
  }, 120_000);

  it('in pieces of one span each, last first, give the same spans', async () => {
    const json = bodies.filter(({ headers }) => headers !== PROTOBUF).slice(0, 20);
    const before = await stream.last();
    for (const { bytes } of json) await post(bytes);
    const whole = distinctSpans(await stream.spansSince(before));
    const between = await stream.last();
    const pieces = json.flatMap(({ bytes }) => piecesOf(JSON.parse(bytes.toString()) as Node)).reverse();
    expect(pieces.length).toBeGreaterThan(50);
    await Promise.all(pieces.map((piece) => post(piece)));
    expect(distinctSpans(await stream.spansSince(between))).toEqual(whole);
  }, 120_000);
});

/** One request per span. */
function piecesOf(request: Node): object[] {
  return (request.resourceSpans ?? []).flatMap((resource) =>
    (resource.scopeSpans ?? []).flatMap((scope) =>
      (scope.spans ?? []).map((span) => ({ resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans: [span] }] }] })),
    ),
  );
}
