import { describe, expect, it } from '@jest/globals';
import type { ReceivedTrace, ReceivedTraceSpan } from '#contracts';
import { traceText } from './trace.js';

const AT = Date.parse('2026-11-30T12:00:00Z') * 1000;
const trace: ReceivedTrace = {
  ...{ trace_id: 'a', session_id: null, state: 'unassigned', reason: 'no session: none of its spans names one', turn: null },
  ...{ root_ended: true, spans: 2, orphans: 0, late_spans: 1, first_at: AT, last_at: AT },
};
const span: ReceivedTraceSpan = {
  ...{ span_id: 'one', parent_span_id: null, name: 'turn', kind: 'AGENT', status: 'OK', model: null, dialect: 'plain' },
  ...{ session_id: null, started_at: AT, ended_at: AT, late: false, received_at: AT },
};

describe('a trace for people', () => {
  it('says why it is in no turn, and which of its spans came late', () => {
    const late = { ...span, span_id: 'two', parent_span_id: 'one', late: true, received_at: AT + 60_000_000 };
    const lines = traceText({ trace, items: [span, late], next_cursor: null }).split('\n');
    expect(lines.slice(0, 2)).toEqual([
      'a: unassigned: no session: none of its spans names one',
      'in no turn; no session; 2 spans, 1 late',
    ]);
    expect(lines.filter((line) => line.includes('late, 2026-11-30 12:01:00'))).toHaveLength(1);
  });

  it('says of which turn it is', () => {
    const turn = { session_id: 's', turn_index: 7 };
    expect(traceText({ trace: { ...trace, state: 'scored', reason: null, turn }, items: [], next_cursor: null })).toBe(
      'a: scored\nturn 7 of s; 2 spans, 1 late\n\nno spans',
    );
  });
});
