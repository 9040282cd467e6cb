import type { JsMsg } from '@nats-io/jetstream';
import type { z } from 'zod';
import { projectOfSubject, serviceNames, type EventContract } from '#contracts';
import { redactSecrets, storable } from '#domain/text';
import { parseJson } from '#ingest';
import type { Decoded, Delivery, ProjectDirectory } from '../delivery.js';

/** How the bytes of one kind of event become its payload, and which projects exist. */
export interface Decoder {
  readonly decode: (data: Uint8Array) => Decoded<unknown>;
  readonly projects: ProjectDirectory;
}

type Outcome = { readonly ok: true; readonly delivery: Delivery<unknown> } | { readonly ok: false; readonly reason: string };

/** Reads one message. What can never be read says why; nothing here throws for what a message holds. */
export async function decodeMessage(message: JsMsg, { decode, projects }: Decoder): Promise<Outcome> {
  const project = projectOfSubject(message.subject);
  if (project === undefined || !(await projects.exists(project)))
    return { ok: false, reason: `unknown project "${project ?? ''}"` };
  const decoded = decode(message.data);
  if (!decoded.ok) return decoded;
  const { subject, seq: sequence } = message;
  const storedAt = Math.floor(message.info.timestampNanos / 1000);
  const traceparent = message.headers?.get('traceparent') || undefined;
  return {
    ok: true,
    delivery: { project, subject, payload: decoded.payload, notes: decoded.notes, sequence, storedAt, traceparent },
  };
}

interface Read {
  readonly value: unknown;
  readonly notes: readonly string[];
}

const SERVICES: ReadonlySet<string> = new Set(serviceNames);

/**
 * The decoder of every event that needs no other. What outsiders may publish is made storable and redacted before it is looked at;
 * what our services publish was so already.
 */
export function decoderOf({ schema, publishers }: EventContract): (data: Uint8Array) => Decoded<unknown> {
  return publishers.every((one) => SERVICES.has(one)) ? bySchema(schema) : bySchema(schema, clean);
}

function clean({ value, notes }: Read): Read {
  const made = storable(value);
  return { value: redactSecrets(made.value), notes: [...notes, ...made.notes] };
}

/** JSON by a schema, after `prepare`. */
export function bySchema(schema: z.ZodType, prepare = (read: Read): Read => read): (data: Uint8Array) => Decoded<unknown> {
  return (data) => {
    try {
      const { value, notes } = prepare(parseJson(data));
      const parsed = schema.safeParse(value);
      if (parsed.success) return { ok: true, payload: parsed.data, notes };
      const [issue] = parsed.error.issues;
      return { ok: false, reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not fit its schema'}` };
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  };
}
