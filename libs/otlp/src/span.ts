/** A value of an attribute as JSON has it. Integers beyond 2^53 are bigints; bytes are base64 text. */
export type AttributeValue =
  string | number | bigint | boolean | null | readonly AttributeValue[] | { readonly [key: string]: AttributeValue };

/** Maps, since keys come from outside: `__proto__` is a key like any other. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

export interface OtlpScope {
  readonly name: string;
  readonly version: string;
  readonly attributes: Attributes;
}

export interface OtlpEvent {
  readonly name: string;
  /** Nanoseconds since the epoch; null when missing. */
  readonly time: bigint | null;
  readonly attributes: Attributes;
}

/** A span as OTLP says it, in one shape whether it came as JSON or as protobuf. Resource and scope are shared between spans. */
export interface OtlpSpan {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  /** Null for a root, and for a span whose parent is in another process. */
  readonly parentSpanId: string | null;
  /** The parent in another process, which may never be sent here: for example a front end that traces its requests. */
  readonly remoteParentSpanId?: string;
  /**
   * It serves a request or a message, and nobody says whether its parent is in another process: it most likely is. Absent where that is
   * said, or it has no parent.
   */
  readonly entry?: true;
  readonly name: string;
  /** Nanoseconds since the epoch; null when missing or no time. */
  readonly start: bigint | null;
  readonly end: bigint | null;
  readonly attributes: Attributes;
  readonly events: readonly OtlpEvent[];
  readonly status: { readonly code: 'UNSET' | 'OK' | 'ERROR'; readonly message: string };
  /** Attributes of the resource, for example `service.name`. */
  readonly resource: Attributes;
  readonly scope: OtlpScope;
  /** What had to be forgiven, for example a time in milliseconds. */
  readonly notes: readonly string[];
}
