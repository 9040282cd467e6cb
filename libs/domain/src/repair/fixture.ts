import type { RepairNotice, TraceFacts } from './episode-facts.js';

export function repairNotice(more: Partial<RepairNotice> = {}): RepairNotice {
  return {
    ...{ id: 'n-1', severity: 'breach', signatures: ['breach:tool_correctness'], summary: 'tool_correctness=0.20 [breach]' },
    metrics: [
      {
        ...{ metric: 'tool_correctness', tier: 2, trace_id: 't1', value: 0.2, threshold: 0.5, reason: 'pay failed' },
        ...{ code: null, conditions: ['breach'] },
      },
    ],
    ...{ flagged_traces: ['t1'], scope_hints: [], recommended_scope: null },
    ...more,
  };
}

export function traceFacts(more: Partial<TraceFacts> = {}): TraceFacts {
  return {
    trace_id: 't1',
    trace: { name: 'turn', input: 'pay my bill', output: 'done', spans: [] },
    tools: [],
    scores: [],
    ...more,
  };
}
