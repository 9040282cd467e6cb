import { receivedSpan, REPAIR_TRACE_SCOPE, type ReceivedSpan } from '#contracts';
import { redactSpan, storable } from '#domain/text';
import { cutToFit, stringifyJson } from '#ingest';
import { normaliseSpan, type OtlpSpan } from '#otlp';
import type { WrittenSpan } from './span-chunks.js';

const MIB = 1024 * 1024;
/** Microseconds that a sender's clock may be ahead. Beyond, the order of a session's turns would follow a time that cannot be. */
const AHEAD_MAX = 86_400_000_000;
/** Beyond this a span is cut by the digest rule of turns. */
const MAX_SPAN_BYTES = 16 * MIB;

export type Written =
  | { readonly ok: true; readonly span: WrittenSpan; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * A span as it was sent, in our words and as it is stored. One that we fail at is a fault of ours, told to `report`; it costs no
 * other span of its body.
 */
export function readSpan(span: OtlpSpan, receivedAt: number, report: (error: unknown) => void): Written {
  try {
    // Our own repairs may be exported to this very gateway; they are no task of an agent, and never scored.
    if (span.scope.name === REPAIR_TRACE_SCOPE) return { ok: false, reason: 'of a repair of ours, which is never scored' };
    return writeSpan(normaliseSpan(span, receivedAt, receivedAt + AHEAD_MAX));
  } catch (error) {
    report(error);
    return { ok: false, reason: 'not understood, by a fault of the gateway; its log has it' };
  }
}

/**
 * A normalised span as it is stored: storable, without secrets (its ids, session and times are never touched), at most 16 MiB.
 * It is checked against the contract here, since a reader could only refuse the whole chunk it travels in.
 */
export function writeSpan(received: ReceivedSpan): Written {
  const { value, notes } = storable(received);
  const clean = redactSpan(value);
  const parsed = receivedSpan.safeParse(clean);
  if (!parsed.success) return { ok: false, reason: `not valid at ${String(parsed.error.issues[0]?.path[0] ?? '?')}` };
  const span = written(received.trace_id, stringifyJson(clean));
  if (span.bytes <= MAX_SPAN_BYTES) return { ok: true, span, notes };
  const { value: cut, fits } = cutToFit({ spans: [clean] }, MAX_SPAN_BYTES);
  if (!fits) return { ok: false, reason: `larger than ${MAX_SPAN_BYTES / MIB} MiB in names and tools alone` };
  const [short] = (cut as { spans: readonly unknown[] }).spans;
  return {
    ok: true,
    span: written(received.trace_id, stringifyJson(short)),
    notes: [...notes, `larger than ${MAX_SPAN_BYTES / MIB} MiB: long texts were cut`],
  };
}

const written = (trace: string, text: string): WrittenSpan => ({ trace, text, bytes: Buffer.byteLength(text) });
