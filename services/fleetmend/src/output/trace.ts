import type { ReceivedTrace, ReceivedTraceSpan, ReceivedTraceSpans } from '#contracts';
import { table, when, type Column } from './table.js';

/** One trace for people: where it stands, and a page of its spans. */
export function traceText({ trace, items }: ReceivedTraceSpans): string {
  return `${headOf(trace)}\n\n${items.length === 0 ? 'no spans' : table(items, spanColumns)}`;
}

function headOf({ trace_id: id, state, reason, turn, session_id: said, spans, late_spans: late }: ReceivedTrace): string {
  const place =
    turn === null
      ? `in no turn; ${said === null ? 'no session' : `session ${said}`}`
      : `turn ${turn.turn_index} of ${turn.session_id}`;
  const why = reason === null ? '' : `: ${reason}`;
  return `${id}: ${state}${why}\n${place}; ${spans} spans, ${late} late`;
}

const spanColumns: readonly Column<ReceivedTraceSpan>[] = [
  { title: 'span', of: ({ span_id: id }) => id },
  { title: 'parent', of: ({ parent_span_id: id }) => id ?? '' },
  { title: 'started', of: ({ started_at: at }) => when(at) },
  { title: 'kind', of: ({ kind }) => kind },
  { title: 'status', of: ({ status }) => status },
  { title: 'late', of: ({ late, received_at: at }) => (late ? `late, ${when(at)}` : '') },
  { title: 'name', of: ({ name }) => name },
];
