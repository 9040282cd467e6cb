import { toolCalls } from '#domain/checks';
import { noTask } from '../evidence.js';
import type { Metric } from '../metric.js';
import { toolSelectionPrompt } from '../prompts/tool-selection.js';
import { toolsPrompt } from '../prompts/tools.js';
import { toolsOf } from '../stages/tools.js';
import { noToolCalls } from './no-tool-calls.js';
import { number } from './number.js';

/** Extracts what was asked, called and available, then judges the selection. */
export const toolCorrectness: Metric = {
  prompts: [toolsPrompt, toolSelectionPrompt],
  prepare: async (judgement) => {
    const calls = toolCalls(judgement.trace);
    if (calls.length === 0) return noToolCalls;
    const { asked, called, available } = await toolsOf(judgement, calls);
    if (asked === null) return noTask;
    return number(judgement, toolSelectionPrompt, () => [
      { name: 'asked', text: asked },
      { name: 'called', text: called.join('\n') },
      { name: 'available', text: available.join('\n') },
    ]);
  },
};
