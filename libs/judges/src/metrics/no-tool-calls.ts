import type { NotApplicable } from '../metric.js';

export const noToolCalls: NotApplicable = { code: 'no_tool_calls', reason: 'No tool was called.' };
