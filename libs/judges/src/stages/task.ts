import type { Judgement } from '../judgement.js';
import { tidy } from '../reason.js';
import { taskPrompt, type TaskAndOutcome } from '../prompts/task.js';

/** What was asked, and what came of it; null where the trace does not show it. Computed once per trace. */
export function taskAndOutcome(judgement: Judgement): Promise<TaskAndOutcome> {
  return judgement.shared(taskPrompt, async () => {
    const { task, outcome } = await judgement.ask(taskPrompt, () => [{ name: 'trace', text: judgement.digest().text }]);
    return { task: wordsOrNull(task), outcome: wordsOrNull(outcome) };
  });
}

/** Models write "null" and "" where they mean null. */
function wordsOrNull(text: string | null): string | null {
  const words = tidy(text ?? '');
  return words === '' || /^(?:null|none|n\/a)$/i.test(words) ? null : words;
}
