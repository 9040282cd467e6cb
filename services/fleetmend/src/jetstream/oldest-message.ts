import { JetStreamApiError, type JetStreamManager, type MsgRequest } from '@nats-io/jetstream';

const MESSAGE_NOT_FOUND = 10_037;

/** When the oldest message of a subject (wildcards allowed) that is still in the stream was stored; undefined when there is none. */
export async function oldestMessage(jsm: JetStreamManager, stream: string, subject: string): Promise<Date | undefined> {
  try {
    // The server takes this since 2.9; the client's type has it for direct gets only.
    return (await jsm.streams.getMessage(stream, { seq: 1, next_by_subj: subject } as MsgRequest))?.time;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === MESSAGE_NOT_FOUND) return undefined;
    throw error;
  }
}
