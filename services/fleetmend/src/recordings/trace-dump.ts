import type { ReceivedSpan, Tool, Turn } from '#contracts';
import { stringifyTurn } from '#ingest';
import {
  decodeTraces,
  exportedSpans,
  groupTraces,
  hasTooManyParts,
  normaliseSpan,
  turnsOf,
  type ExportedSpan,
  type ExportKind,
  type OtlpContentType,
} from '#otlp';
import { reasonOf, rejected, type Found, type Origin } from './found.js';

/** For spans that say no time: fixed, so that importing twice changes nothing. As in libs/recordings. */
const NO_TIME = Date.UTC(2026, 0, 1) * 1_000;
/** Spans are held until all files are read, since those of a trace, and the traces of a session, may lie in several. */
const MAX_BYTES = 512 * 1024 * 1024;
const TOO_LARGE = 'more than 512 MiB of traces in one import: import the files of some sessions at a time';
const TOO_MANY = 'a request of millions of objects, lists or members: divide it';
const NOWHERE: Origin = { file: '', line: null };
const ALONE = 'no session was recorded: the trace stands alone';

export type FoundInDump = Found & { readonly origin: Origin };

/** The traces in files of spans: OTLP as JSON or protobuf, and exports of others. */
export class TraceDump {
  private readonly spans: ReceivedSpan[] = [];
  /** Batches of OpenAI Agents: what a trace says may come in another batch, or file, than its spans. */
  private readonly agentItems: unknown[] = [];
  private readonly origins = new Map<string, Origin>();
  private bytes = 0;

  /** Takes one OTLP request. Gives what could not be read of it. */
  addOtlp(bytes: Uint8Array, contentType: OtlpContentType, origin: Origin): Found[] {
    if (!this.hasRoomFor(bytes.length)) return [rejected(TOO_LARGE)];
    if (hasTooManyParts(bytes, contentType)) return [rejected(TOO_MANY)];
    try {
      const { spans, rejected: broken } = decodeTraces(bytes, contentType);
      for (const span of spans) this.keep(normaliseSpan(span, NO_TIME), origin);
      return [...broken].map(([reason, count]) => rejected(`${count} of its spans: ${reason}`));
    } catch (error) {
      return [rejected(reasonOf(error))];
    }
  }

  /** Takes an export that is not OTLP. Gives what could not be read of it. */
  addExport(value: unknown, kind: ExportKind, size: number, origin: Origin): Found[] {
    if (!this.hasRoomFor(size)) return [rejected(TOO_LARGE)];
    if (kind === 'langfuse') return this.keepExported(exportedSpans(value, kind), origin);
    const found = exportedSpans(value, kind);
    for (const one of found) if ('span' in one) this.origins.set(one.span.traceId, this.origins.get(one.span.traceId) ?? origin);
    this.agentItems.push(...itemsOf(value));
    return found.flatMap((one) => ('rejected' in one ? [rejected(one.rejected)] : []));
  }

  /** The turns of all that was added, session by session; traces that cannot be assigned with the reason. Empties the dump. */
  *turns(tools: readonly unknown[] | undefined): Generator<FoundInDump> {
    this.keepExported(exportedSpans({ data: this.agentItems.splice(0) }, 'openai-agents'), NOWHERE);
    const traces = groupTraces(this.spans.splice(0));
    this.bytes = 0;
    const { turns, unassigned } = turnsOf([...traces.values()].flat());
    for (const turn of turns) yield this.found(turn, tools);
    for (const { found, reason } of unassigned) {
      const id = found.trace.trace_id;
      const spans = traces.get(id) ?? [];
      if (standsAlone(spans)) yield* turnsOf(spans.map(inOwnSession)).turns.map((turn) => this.found(alone(turn), tools));
      else yield { ...rejected(`trace ${id}: ${reason} (docs/integrations.md says how to set it)`), origin: this.originOf(id) };
    }
  }

  private found(turn: Turn, tools: readonly unknown[] | undefined): FoundInDump {
    return { ...asFound(withTools(turn, tools)), origin: this.originOf(turn.traces?.[0]?.trace_id ?? '') };
  }

  private hasRoomFor(bytes: number): boolean {
    if (this.bytes + bytes > MAX_BYTES) return false;
    this.bytes += bytes;
    return true;
  }

  private keepExported(found: readonly ExportedSpan[], origin: Origin): Found[] {
    for (const one of found) if ('span' in one) this.keep(normaliseSpan(one.span, NO_TIME), origin);
    return found.flatMap((one) => ('rejected' in one ? [rejected(one.rejected)] : []));
  }

  private keep(span: ReceivedSpan, origin: Origin): void {
    if (!this.origins.has(span.trace_id)) this.origins.set(span.trace_id, origin);
    this.spans.push(span);
  }

  private originOf(traceId: string): Origin {
    return this.origins.get(traceId) ?? NOWHERE;
  }
}

function itemsOf(value: unknown): unknown[] {
  const { data } = (value ?? {}) as { data?: unknown };
  return [Array.isArray(value) ? value : Array.isArray(data) ? data : [value]].flat() as unknown[];
}

/** A trace of an agent that nothing joins to others is a conversation of one turn. A single span is not: its library gives each a trace. */
function standsAlone(trace: readonly ReceivedSpan[]): boolean {
  const isOfAnAgent = trace.some(({ kind }) => kind === 'LLM' || kind === 'TOOL' || kind === 'AGENT');
  return isOfAnAgent && new Set(trace.map(({ span_id: id }) => id)).size > 1;
}

function alone(turn: Turn): Turn {
  return { ...turn, metadata: { session: ALONE } };
}

function inOwnSession(span: ReceivedSpan): ReceivedSpan {
  return { ...span, session: { id: span.trace_id, explicit: false } };
}

function withTools(turn: Turn, tools: readonly unknown[] | undefined): Turn {
  return tools === undefined || turn.tools !== undefined ? turn : { ...turn, tools: tools as Tool[] };
}

function asFound(turn: Turn): Found {
  return { kind: 'turn', session: turn.session_id, data: Buffer.from(stringifyTurn(turn)) };
}
