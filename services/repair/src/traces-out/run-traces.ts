import { Logger } from '@nestjs/common';
import { REPAIR_TRACE_SCOPE } from '#contracts';
import { runSpans, TRACE_NAME, type EndedRun } from './run-spans.js';

export interface TracesEndpoint {
  /** For example `http://collector:4318/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 10_000;
/** Traces on their way at one time; a collector that hangs does not pile them up. */
const UNDERWAY_MAX = 50;

/** Exports repair runs over OTLP/HTTP, once each, as well as it goes: no repair waits for it or fails by it. */
export class RunTraces {
  private readonly logger = new Logger('repair');
  private readonly underway = new Set<Promise<void>>();
  private troubled = false;

  constructor(private readonly endpoint: TracesEndpoint | null) {}

  /** Does nothing where no endpoint is set. */
  export(run: EndedRun): void {
    const { endpoint } = this;
    if (endpoint === null || this.underway.size >= UNDERWAY_MAX) return;
    const sent = this.send(endpoint, run)
      .then((trouble) => this.say(trouble))
      .finally(() => this.underway.delete(sent));
    this.underway.add(sent);
  }

  /** When everything that is on its way has arrived, or was given up. */
  async flush(): Promise<void> {
    await Promise.all(this.underway);
  }

  private async send({ url, headers }: TracesEndpoint, run: EndedRun): Promise<string | null> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(bodyOf(run)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await answer.body?.cancel();
      return answer.ok ? null : `it answered ${answer.status}`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Once, until one arrives again. The address may hold what is secret. */
  private say(trouble: string | null): void {
    if (trouble !== null && !this.troubled) this.logger.warn(`traces of repairs do not arrive at repair_traces_url: ${trouble}`);
    this.troubled = trouble !== null;
  }
}

function bodyOf(run: EndedRun): object {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: TRACE_NAME } }] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: REPAIR_TRACE_SCOPE }, spans: runSpans(run) }] }] };
}
