import { JetStreamApiError } from '@nats-io/jetstream';

export const STREAM_NOT_FOUND = 10_059;
export const CONSUMER_NOT_FOUND = 10_014;

/** What was asked for, or null when the server answers that it is not there. */
export async function found<T>(question: Promise<T>, missing: number): Promise<T | null> {
  try {
    return await question;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === missing) return null;
    throw error;
  }
}
