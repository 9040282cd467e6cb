import { afterAll, beforeAll } from '@jest/globals';
import { openGateway, type Fixture } from './fixture.js';
import { postTraces, SpanStream, type OtlpAnswer } from './otlp.js';

export const PROTOBUF = { 'content-type': 'application/x-protobuf' };

/** One gateway for all tests of a file: they post spans to it, and read what it has stored. */
export interface SpanGateway {
  /** The fixture, once the tests run. */
  readonly open: () => Fixture;
  readonly stream: Pick<SpanStream, 'last' | 'since' | 'spansSince'>;
  readonly post: (body: unknown, headers?: Record<string, string>) => Promise<OtlpAnswer>;
}

export function spanGateway(): SpanGateway {
  let opened: { readonly fixture: Fixture; readonly stream: SpanStream } | undefined;
  const now = (): { readonly fixture: Fixture; readonly stream: SpanStream } => {
    if (opened === undefined) throw new Error('the gateway is there for tests, not before them');
    return opened;
  };
  beforeAll(async () => {
    const fixture = await openGateway();
    opened = { fixture, stream: await SpanStream.open(fixture) };
  }, 60_000);
  afterAll(() => now().fixture.close(), 30_000);
  return {
    open: () => now().fixture,
    stream: {
      last: () => now().stream.last(),
      since: (sequence) => now().stream.since(sequence),
      spansSince: (sequence) => now().stream.spansSince(sequence),
    },
    post: (body, headers) => postTraces(now().fixture.url, body, headers),
  };
}
