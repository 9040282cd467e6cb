import { deadLetter, deadLetterHeaders, projectOfSubject, SYSTEM_PROJECT } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { Broker, StoredMessage } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';
import { ScratchTable } from '../postgres/scratch-table.js';

interface DeadRow {
  readonly consumer: string;
  readonly stream: string;
  readonly seq: number;
  readonly s: string | null;
  readonly t: number | null;
}

/** Copies what FM_DEAD holds to `checker_dead`, with the turn that a letter is about where it can be read. */
export async function loadDeadLetters(reader: Reader, broker: Broker): Promise<void> {
  const table = await ScratchTable.create<DeadRow>(
    reader,
    'checker_dead',
    'consumer text, stream text, seq bigint, s uuid, t bigint',
  );
  for await (const message of broker.messages(deadLetter.stream, deadLetter.pattern)) await table.add(deadRow(message));
  await table.finish();
}

function deadRow(message: StoredMessage): DeadRow {
  const project = projectOfSubject(message.subject) ?? SYSTEM_PROJECT;
  return {
    consumer: message.subject.split('.').at(-1) ?? '',
    stream: message.header(deadLetterHeaders.stream),
    seq: Number(message.header(deadLetterHeaders.sequence)),
    ...turnIn(project, message.data),
  };
}

/** Which turn a message is about, as far as it can be read. */
export function turnIn(project: string, data: Uint8Array): Pick<DeadRow, 's' | 't'> {
  try {
    const { session_id: session, turn_index: t } = JSON.parse(Buffer.from(data).toString()) as Record<string, unknown>;
    if (typeof session === 'string' && Number.isSafeInteger(t)) return { s: sessionKey(project, session), t: t as number };
  } catch {
    // Not JSON: that is why it is here.
  }
  return { s: null, t: null };
}
