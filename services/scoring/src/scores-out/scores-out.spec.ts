import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Report, ReportScore } from '#contracts';
import { InfrastructureError } from '#messaging';
import { evaluationEvents, type LogRecord } from './evaluation-events.js';
import { LogsExporter, type LogsEndpoint } from './export-logs.js';

const TRACE = '0123456789abcdef0123456789abcdef';
const score = (more: Partial<ReportScore>): ReportScore => ({
  ...{
    metric: 'task_completion',
    trace_id: TRACE,
    status: 'scored',
    value: 1,
    source: 'judge',
    evaluator: 'judge/m/1',
    reason: 'done',
  },
  ...{ code: null, spans: [], tier: 1, threshold: 0.5, conditions: [] },
  ...more,
});
const report = (...scores: ReportScore[]): Report => ({
  ...{
    session_id: 's',
    turn_index: 3,
    revision: 2,
    accepted_at: 1_790_000_000_000_001,
    complete: true,
    partial: false,
    skipped: null,
  },
  ...{ severity: null, signatures: [], fired: [], flagged_traces: [], signals: [], scores },
});
const attributesOf = (event: ReturnType<typeof evaluationEvents>[number] | undefined): Record<string, unknown> =>
  Object.fromEntries((event?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

describe('the events of a report', () => {
  it('tell a value in the words of the conventions, in the trace that it is about', () => {
    const [event] = evaluationEvents('shop', report(score({ value: 1, conditions: ['stall', 'regression'] })));
    expect(event).toMatchObject({ eventName: 'gen_ai.evaluation.result', traceId: TRACE, timeUnixNano: '1790000000000001000' });
    expect(event?.attributes).toContainEqual({ key: 'gen_ai.evaluation.score.value', value: { doubleValue: 1 } });
    expect(attributesOf(event)).toMatchObject({
      ...{ 'gen_ai.evaluation.name': 'task_completion', 'gen_ai.evaluation.score.label': 'stall,regression' },
      ...{ 'gen_ai.evaluation.explanation': 'done', 'gen_ai.conversation.id': 's', 'fleetmend.revision': '2' },
    });
  });
  it('are none for what has no value yet, or never will', () => {
    const scores = [score({ status: 'pending', value: null }), score({ status: 'not_applicable', value: null })];
    expect(evaluationEvents('shop', report(...scores))).toEqual([]);
  });
  it('say that a value failed, and why', () => {
    const [event] = evaluationEvents(
      'shop',
      report(score({ status: 'failed', value: null, code: 'expired', trace_id: 'not-hex' })),
    );
    expect(attributesOf(event)).toMatchObject({ 'error.type': 'expired', 'gen_ai.evaluation.score.label': 'failed' });
    expect(attributesOf(event)).not.toHaveProperty('gen_ai.evaluation.score.value');
    expect(event).not.toHaveProperty('traceId');
  });
});

describe('the endpoint for scores', () => {
  const bodies: { headers: IncomingHttpHeaders; records: number }[] = [];
  let status = 200;
  let answer = 'said';
  let headers: Record<string, string> = {};
  let endless = false;
  let server: Server;
  let url: string;
  beforeEach(async () => {
    bodies.length = 0;
    status = 200;
    answer = 'said';
    headers = {};
    endless = false;
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += String(chunk)));
      request.on('end', () => {
        const { resourceLogs } = JSON.parse(text) as { resourceLogs: { scopeLogs: { logRecords: unknown[] }[] }[] };
        bodies.push({ headers: request.headers, records: resourceLogs[0]?.scopeLogs[0]?.logRecords.length ?? 0 });
        response.writeHead(status, { 'content-type': 'text/plain', ...headers });
        if (endless) response.write(answer);
        else response.end(answer);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));
  const exportLogs = (endpoint: LogsEndpoint, records: Iterable<LogRecord>) => new LogsExporter(endpoint).export(records);
  const events = (count: number) => evaluationEvents('shop', report(...Array.from({ length: count }, () => score({}))));

  it('is sent all of them, with its headers, in requests of a bounded size', async () => {
    expect(await exportLogs({ url, headers: { 'x-team': 'loop' } }, events(1_200))).toEqual([]);
    expect(bodies.map(({ records }) => records)).toEqual([512, 512, 176]);
    expect(bodies[0]?.headers['x-team']).toBe('loop');
  });
  it.each([401, 403, 404, 429, 502, 503, 504])('that answers %d is asked again later', async (code) => {
    status = code;
    await expect(exportLogs({ url, headers: {} }, events(1))).rejects.toThrow(InfrastructureError);
  });
  it('that refuses for good is told of, and not asked again', async () => {
    status = 400;
    expect(await exportLogs({ url, headers: {} }, events(600))).toEqual(['400 said', '400 said']);
  });
  it.each([
    ['{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"no room"}}', ['3 events rejected: no room']],
    ['{"partialSuccess":{"rejectedLogRecords":2}}', ['2 events rejected: ']],
    ['{"partialSuccess":{"errorMessage":"deprecated"}}', ['deprecated']],
    ['{"partialSuccess":{}}', []],
    ['null', []],
    ['', []],
  ])('that takes a part says so: %s', async (said, wanted) => {
    answer = said;
    expect(await exportLogs({ url, headers: {} }, events(1))).toEqual(wanted);
  });
  it('that answers without end is heard to 64 KiB', async () => {
    [status, answer, endless] = [400, 'x'.repeat(100_000), true];
    expect(await exportLogs({ url, headers: {} }, events(1))).toEqual([`400 ${'x'.repeat(200)}`]);
  });
  it.each([
    ['120', 120_000],
    [new Date(1_790_000_120_000).toUTCString(), 120_000],
    ['999999999', 3_600_000],
  ])('that asks for a rest until %s is left alone so long', async (asked, rest) => {
    let now = 1_790_000_000_000;
    const exporter = new LogsExporter({ url: `${url}?token=abc`, headers: {} }, () => now);
    [status, headers] = [429, { 'retry-after': asked }];
    await expect(exporter.export(events(1))).rejects.toThrow(`scores_out is away: ${url} answered 429 said`);
    status = 200;
    now += rest - 1;
    await expect(exporter.export(events(1))).rejects.toThrow(`${url} answered 429 said`);
    expect(bodies).toHaveLength(1);
    now += 1;
    expect(await exporter.export(events(1))).toEqual([]);
    expect(bodies).toHaveLength(2);
  });
  it('is sent records as they are made, not all at the end', async () => {
    const seen: number[] = [];
    function* made(): Generator<LogRecord> {
      for (const event of events(1_024)) {
        seen.push(bodies.length);
        yield event;
      }
    }
    await exportLogs({ url, headers: {} }, made());
    expect([seen[511], seen[512]]).toEqual([0, 1]);
  });
  it('that is away is asked again later', async () => {
    await expect(exportLogs({ url: 'http://127.0.0.1:9/v1/logs', headers: {} }, events(1))).rejects.toThrow(InfrastructureError);
  });
});
