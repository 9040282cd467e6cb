import type { JsMsg } from '@nats-io/jetstream';
import { deadLetter, deadLetterHeaders, projectOfSubject, SYSTEM_PROJECT, type ConsumerContract } from '#contracts';
import type { OutgoingMessage } from '../delivery.js';

const HEADER_ROOM = 16 * 1024;
const MAX_REASON = 1_000;

/** What a message becomes when it can never succeed: as it came, cut when it would not fit, with the reason in its headers. */
export function deadLetterOf(message: JsMsg, contract: ConsumerContract, reason: string, maxPayload: number): OutgoingMessage {
  const room = maxPayload - HEADER_ROOM;
  const cut = Math.max(0, message.data.length - room);
  return {
    // Never the original's id: the stream would drop a second death of the same message. One per message and consumer is enough.
    id: `${contract.durable}:${contract.event.stream}:${message.seq}:${message.timestamp}`,
    subject: deadLetter.subject(projectOfSubject(message.subject) ?? SYSTEM_PROJECT, contract.durable),
    data: cut === 0 ? message.data : message.data.subarray(0, room),
    headers: {
      [deadLetterHeaders.reason]: oneLine(reason),
      [deadLetterHeaders.subject]: message.subject,
      [deadLetterHeaders.stream]: contract.event.stream,
      [deadLetterHeaders.sequence]: String(message.seq),
      [deadLetterHeaders.deliveries]: String(message.info.deliveryCount),
      [deadLetterHeaders.cut]: String(cut),
    },
  };
}

/** Header values are one line of printable characters. */
function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_REASON);
}
