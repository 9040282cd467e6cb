import { InfrastructureError } from '#messaging';
import type { LogRecord } from './evaluation-events.js';

export interface LogsEndpoint {
  /** For example `http://collector:4318/v1/logs`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const RECORDS_MAX = 512;
const TIMEOUT_MS = 10_000;
/** These pass, says the OTLP specification; what else is refused will be refused again. */
const PASSING = new Set([429, 502, 503, 504]);

/**
 * Sends log records over OTLP/HTTP as JSON, 512 at most in a request. Throws InfrastructureError while the endpoint cannot be reached or
 * asks to be left alone; then all of them are sent again later. Returns why records were refused for good, if any were.
 */
export async function exportLogs({ url, headers }: LogsEndpoint, records: readonly LogRecord[]): Promise<string[]> {
  const refused: string[] = [];
  for (let at = 0; at < records.length; at += RECORDS_MAX) {
    const response = await post(url, headers, records.slice(at, at + RECORDS_MAX));
    if (response.ok) {
      await response.body?.cancel();
      continue;
    }
    const said = `${response.status} ${(await response.text().catch(() => '')).slice(0, 200)}`.trim();
    if (PASSING.has(response.status)) throw new InfrastructureError('scores_out', new Error(`${url} answered ${said}`));
    refused.push(said);
  }
  return refused;
}

async function post(url: string, headers: LogsEndpoint['headers'], logRecords: readonly LogRecord[]): Promise<Response> {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'fleetmend' } }] };
  const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'fleetmend' }, logRecords }] }] });
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    throw new InfrastructureError('scores_out', error);
  }
}
