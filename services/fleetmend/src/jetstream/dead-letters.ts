import { jetstream, JetStreamApiError, type JetStreamManager, type MsgRequest, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { deadLetter, deadLetterHeaders, projectOfSubject } from '#contracts';
import { CommandError, exitCodes } from '../exit-codes.js';
import { manager } from './connect.js';

/** A message that could never succeed. */
export interface DeadLetter {
  /** Its place in FM_DEAD, which names it. */
  readonly sequence: number;
  readonly at: string;
  readonly project: string | null;
  readonly consumer: string;
  readonly reason: string;
  /** Where it came from, and where a redrive sends it. */
  readonly subject: string;
  readonly deliveries: number;
  readonly bytes: number;
  /** Bytes missing from its end, which it lost because it did not fit. */
  readonly cut_bytes: number;
}

const STREAM = deadLetter.stream;
const STREAM_NOT_FOUND = 10_059;
const MESSAGE_NOT_FOUND = 10_037;

/** All dead letters, oldest first, or those of one consumer. @throws CommandError 3 when the stream is missing */
export async function* readDeadLetters(nats: NatsConnection, consumer = '*'): AsyncGenerator<DeadLetter> {
  const jsm = await manager(nats);
  const filter = deadLetter.subject('*', consumer);
  for (let from = 1; ;) {
    // The server takes this since 2.9; the client's type has it for direct gets only.
    const message = await stored(jsm, { seq: from, next_by_subj: filter } as MsgRequest);
    if (message === undefined) return;
    yield letterOf(message);
    from = message.seq + 1;
  }
}

/** One letter with its bytes; undefined when there is none of this number. */
export async function readDeadLetter(
  nats: NatsConnection,
  sequence: number,
): Promise<{ letter: DeadLetter; data: Uint8Array } | undefined> {
  const message = await stored(await manager(nats), { seq: sequence });
  return message === undefined ? undefined : { letter: letterOf(message), data: message.data };
}

async function stored(jsm: JetStreamManager, request: MsgRequest): Promise<StoredMsg | undefined> {
  try {
    return (await jsm.streams.getMessage(STREAM, request)) ?? undefined;
  } catch (error) {
    const code = error instanceof JetStreamApiError ? error.code : undefined;
    if (code === MESSAGE_NOT_FOUND) return undefined;
    if (code !== STREAM_NOT_FOUND) throw error;
    throw new CommandError(exitCodes.notFound, `the stream ${STREAM} does not exist: make it with \`fleetmend migrate\``);
  }
}

/** Publishes the letter's bytes where they came from, without a message id: the stream must not take them for a repetition. */
export async function republish(nats: NatsConnection, letter: DeadLetter, data: Uint8Array): Promise<void> {
  await jetstream(nats).publish(letter.subject, data);
}

function letterOf({ seq, time, subject, header: headers, data }: StoredMsg): DeadLetter {
  const header = (name: string): string => headers.get(name);
  return {
    sequence: seq,
    at: time.toISOString(),
    project: projectOfSubject(subject) ?? null,
    consumer: subject.split('.').at(-1) ?? '',
    reason: header(deadLetterHeaders.reason),
    subject: header(deadLetterHeaders.subject),
    deliveries: Number(header(deadLetterHeaders.deliveries)),
    bytes: data.length,
    cut_bytes: Number(header(deadLetterHeaders.cut)),
  };
}
