import { InfrastructureError } from '#messaging';
import type { LogRecord } from './evaluation-events.js';

export interface LogsEndpoint {
  /** For example `http://collector:4318/v1/logs`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const RECORDS_MAX = 512;
const TIMEOUT_MS = 10_000;
/** An answer is read as far as this; the rest of it is let go. */
const ANSWER_BYTES = 64 * 1024;
/** An endpoint may not ask for a longer rest: it could be a mistake, and reports are kept for a day only. */
const REST_MAX_MS = 3_600_000;
/**
 * These pass. Four of them by the OTLP specification; a wrong key or path (401, 403, 404) by somebody's hand, and until then
 * every value would be lost. What else is refused will be refused again.
 */
const PASSING = new Set([401, 403, 404, 429, 502, 503, 504]);

/** Sends log records over OTLP/HTTP as JSON, 512 at most in a request. Holds how long the endpoint asked to be left alone. */
export class LogsExporter {
  private restUntil = 0;
  private why = '';
  /** Where they go, for people: without what may be secret in an address. */
  private readonly place: string;

  constructor(
    private readonly endpoint: LogsEndpoint,
    private readonly now: () => number = Date.now,
  ) {
    const { origin, pathname } = new URL(endpoint.url);
    this.place = origin + pathname;
  }

  /**
   * Records are made as they are sent. Returns why some were refused for good, if any were.
   * @throws InfrastructureError while the endpoint cannot be reached, refuses the key, or asked to be left alone; then all of them
   * are to be sent again later
   */
  async export(records: Iterable<LogRecord>): Promise<string[]> {
    const refused: string[] = [];
    for (const some of inChunks(records)) {
      if (this.now() < this.restUntil) throw this.away(this.why);
      const response = await this.post(some);
      const answer = await textOf(response);
      const said = `${response.status} ${answer.slice(0, 200)}`.trim();
      if (response.ok) refused.push(...partlyRefused(answer));
      else if (PASSING.has(response.status)) throw this.passing(response, said);
      else refused.push(said);
    }
    return refused;
  }

  private passing(response: Response, said: string): InfrastructureError {
    this.restUntil = this.now() + Math.min(restAsked(response.headers.get('retry-after'), this.now()), REST_MAX_MS);
    this.why = `answered ${said}`;
    return this.away(this.why);
  }

  private away(why: string): InfrastructureError {
    return new InfrastructureError('scores_out', new Error(`${this.place} ${why}`));
  }

  private async post(logRecords: readonly LogRecord[]): Promise<Response> {
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'fleetmend' } }] };
    const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'fleetmend' }, logRecords }] }] });
    try {
      return await fetch(this.endpoint.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...this.endpoint.headers },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw new InfrastructureError('scores_out', error);
    }
  }
}

function* inChunks(records: Iterable<LogRecord>): Generator<LogRecord[]> {
  let chunk: LogRecord[] = [];
  for (const record of records) {
    chunk.push(record);
    if (chunk.length < RECORDS_MAX) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** The first 64 KiB of an answer; what breaks off is read as far as it came. */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES) break;
    }
  } catch {
    // The status has come and says what matters.
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString('utf8');
}

/** Of an ExportLogsServiceResponse: what it says it did not take. Without a count the message is a warning. */
function partlyRefused(answer: string): string[] {
  let response: { partialSuccess?: { rejectedLogRecords?: unknown; errorMessage?: unknown } } | null;
  try {
    response = JSON.parse(answer) as typeof response;
  } catch {
    // Some collectors answer with nothing, or with text.
    return [];
  }
  const { rejectedLogRecords: rejected = 0, errorMessage: message = '' } = response?.partialSuccess ?? {};
  const count = Number(rejected);
  const words = String(message).slice(0, 200);
  if (count > 0) return [`${count} events rejected: ${words}`];
  return words === '' ? [] : [words];
}

/** Milliseconds that a Retry-After asks for, in seconds or as a date; 0 without one. */
function restAsked(header: string | null, now: number): number {
  if (header === null) return 0;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return ms > 0 ? ms : 0;
}
