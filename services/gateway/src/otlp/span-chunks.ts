/** A span as it will travel. `text` is its JSON, `bytes` the length of that in UTF-8. */
export interface WrittenSpan {
  readonly trace: string;
  readonly text: string;
  readonly bytes: number;
}

/** The JSON of one `spans.received`, and how many spans it has. One that is larger than asked for holds a single span. */
export interface Chunk {
  readonly text: string;
  readonly bytes: number;
  readonly spans: number;
}

const OPEN = '{"spans":[';
const CLOSE = ']}';
/** What the frame takes; each span also a comma. */
const FRAME_BYTES = OPEN.length + CLOSE.length;

/**
 * Packs spans into chunks of at most `maxBytes`, keeping those of a trace together: traces in the order of their first span, a
 * trace is divided only when it does not fit into a chunk of its own. The same spans in the same order give the same chunks.
 */
export function chunksOf(spans: readonly WrittenSpan[], maxBytes: number): Chunk[] {
  const chunks: Chunk[] = [];
  let open: WrittenSpan[] = [];
  let bytes = FRAME_BYTES;
  const close = (): void => {
    if (open.length > 0)
      chunks.push({ text: OPEN + open.map(({ text }) => text).join(',') + CLOSE, bytes: bytes - 1, spans: open.length });
    open = [];
    bytes = FRAME_BYTES;
  };
  for (const trace of byTrace(spans)) {
    if (bytes + sizeOf(trace) - 1 > maxBytes) close();
    for (const span of trace) {
      if (bytes + span.bytes > maxBytes) close();
      open.push(span);
      bytes += span.bytes + 1;
    }
  }
  close();
  return chunks;
}

const sizeOf = (spans: readonly WrittenSpan[]): number => spans.reduce((sum, { bytes }) => sum + bytes + 1, 0);

function byTrace(spans: readonly WrittenSpan[]): Iterable<WrittenSpan[]> {
  const traces = new Map<string, WrittenSpan[]>();
  for (const span of spans) {
    const known = traces.get(span.trace);
    if (known === undefined) traces.set(span.trace, [span]);
    else known.push(span);
  }
  return traces.values();
}
