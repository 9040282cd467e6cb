import { cloudEventHeaders, type OutgoingMessage } from '#messaging';
import type { EventContract, PayloadOf } from '#contracts';

export interface Emission<C extends EventContract = EventContract> {
  readonly event: C;
  readonly id: string;
  readonly project: string;
  readonly tail?: readonly string[];
  /** Trace context of what caused it. */
  readonly traceparent?: string | undefined;
  readonly payload: PayloadOf<C>;
}

export interface OutboxRow {
  readonly id: string;
  readonly subject: string;
  readonly headers: Record<string, string> | null;
  readonly payload: string;
}

export function outboxRow({ event, id, project, tail = [], payload, traceparent }: Emission): OutboxRow {
  const subject = event.subject(project, ...tail);
  const outside =
    event.audience === 'outside' ? cloudEventHeaders({ id, type: event.type, project, subject, at: Date.now() }) : null;
  const headers = traceparent === undefined ? outside : { ...outside, traceparent };
  return { id, subject, headers, payload: JSON.stringify(payload) };
}

export function message({ id, subject, headers, payload }: OutboxRow): OutgoingMessage {
  return { id, subject, data: payload, headers: headers ?? undefined };
}
