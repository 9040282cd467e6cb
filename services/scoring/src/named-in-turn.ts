import type { Turn } from '#contracts';

/** The id as spans have it: OTLP's own come in lower case, whoever writes them down. */
const traceIdOf = (id: string): string => (/^[0-9a-f]{32}$/i.test(id) ? id.toLowerCase() : id);

/** Traces that a turn names and does not carry. */
export function missingTraces(turn: Turn): string[] {
  const carried = new Set((turn.traces ?? []).map(({ trace_id: id }) => traceIdOf(id)));
  return [...namedTraces(turn)].filter((id) => !carried.has(id)).sort();
}

export function namedTraces({ trace_ids: ids }: Turn): Set<string> {
  return new Set((ids ?? []).map(traceIdOf));
}

/** A turn that names traces which it does not carry waits for them. */
export function awaitsTraces(turn: Turn): boolean {
  return missingTraces(turn).length > 0;
}
