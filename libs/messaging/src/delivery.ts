/** One message as a handler sees it: decoded, of a known project. */
export interface Delivery<Payload> {
  readonly project: string;
  readonly subject: string;
  readonly payload: Payload;
  /** JetStream's time of the message, integer microseconds since the epoch; the same on every redelivery. */
  readonly storedAt: number;
  /** Names the message in its stream. */
  readonly sequence: number;
  /** W3C trace context of whoever published it, when there is one; what follows from the message carries it on. */
  readonly traceparent?: string | undefined;
  /** What had to be changed to read it (NaN, NUL characters, …). */
  readonly notes: readonly string[];
}

/** One message to publish. `headers` are those beside `Nats-Msg-Id`, which is `id`; without an id none is sent. */
export interface OutgoingMessage {
  readonly id: string | null;
  readonly subject: string;
  readonly data: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface PublishFailure {
  readonly index: number;
  readonly reason: string;
  /** The stream refuses because it is full: ask again later. */
  readonly full: boolean;
  /** It can never be stored as it is, for example because it is larger than the broker takes. */
  readonly hopeless: boolean;
}

/** Publishes to streams and waits for the broker's acknowledgements. Never throws: what was not stored is in the answer. */
export interface StreamPublisher {
  publish(messages: readonly OutgoingMessage[]): Promise<PublishFailure[]>;
}

/** Counts how often a message failed for reasons of its own; survives the process that failed. */
export interface AttemptStore {
  begin(consumer: string, event: string, error: string | null): Promise<number>;
  forget(consumer: string, events: readonly string[]): Promise<void>;
  /** Forgets everything up to a message of a stream: all of that is acknowledged, done or dead. */
  forgetUpTo(consumer: string, stream: string, sequence: number): Promise<void>;
}

/** Which projects exist. */
export interface ProjectDirectory {
  exists(project: string): Promise<boolean>;
}

export type Decoded<Payload> =
  | { readonly ok: true; readonly payload: Payload; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };
