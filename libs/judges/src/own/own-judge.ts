/** How the answer of a project's own judge becomes a value in [0, 1]. */
export type OutputRule =
  | { readonly kind: 'score'; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: Readonly<Record<string, number>> };

/** A judge that a project registers: what to ask about a trace, and what the answer is worth. */
export interface OwnJudge {
  /** Text with placeholders (`placeholders`), each replaced by fenced material. */
  readonly prompt: string;
  readonly output: OutputRule;
}

/** What a prompt may ask to see, as `{{name}}`. */
export const placeholders = ['request', 'answer', 'trace', 'tools', 'task_summary', 'end_state'] as const;
export type Placeholder = (typeof placeholders)[number];

/** Code points of a prompt: instructions of a page or two; the material has its own budget. */
const PROMPT_MAX = 20_000;
const CHOICES_MAX = 20;

/** What is wrong with a definition, one sentence each; none when it can be used. Plain code, so settings can call it. */
export function checkOwnJudge(definition: OwnJudge): string[] {
  return [...checkPrompt(definition.prompt), ...checkOutput(definition.output)];
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** The names between double braces, in order, with repeats; white space around a name does not matter. */
export function placeholdersOf(prompt: string): string[] {
  return [...prompt.matchAll(PLACEHOLDER)].map(([, name = '']) => name.trim());
}

/** The prompt with every placeholder replaced by what `textFor` gives for its name. */
export function filled(prompt: string, textFor: (name: string) => string): string {
  return prompt.replace(PLACEHOLDER, (_match, name: string) => textFor(name.trim()));
}

function checkPrompt(prompt: string): string[] {
  if (prompt.trim() === '') return ['the prompt is empty'];
  const problems: string[] = [];
  if (prompt.length > PROMPT_MAX) problems.push(`the prompt is longer than ${PROMPT_MAX} characters`);
  const known = new Set<string>(placeholders);
  const used = new Set(placeholdersOf(prompt));
  const unknown = [...used].filter((name) => !known.has(name));
  const list = placeholders.map((name) => `{{${name}}}`).join(', ');
  for (const name of unknown) problems.push(`{{${name}}} is not a placeholder; known are ${list}`);
  if (used.size === unknown.length) problems.push(`the prompt asks to see nothing; use at least one of ${list}`);
  return problems;
}

function checkOutput(output: OutputRule): string[] {
  switch (output.kind) {
    case 'boolean':
      return [];
    case 'score':
      return Number.isFinite(output.max - output.min) && output.min < output.max
        ? []
        : ['the smallest score must be less than the largest'];
    case 'choice':
      return checkChoices(Object.entries(output.values));
    default:
      return [`an output is a score, a boolean or a choice, not ${JSON.stringify((output as { kind?: unknown }).kind)}`];
  }
}

function checkChoices(choices: readonly (readonly [string, number])[]): string[] {
  const problems: string[] = [];
  if (choices.length < 2) problems.push('a choice needs two answers at least');
  if (choices.length > CHOICES_MAX) problems.push(`a choice has ${CHOICES_MAX} answers at most`);
  for (const [name, value] of choices) {
    if (name.trim() === '') problems.push('an answer to choose needs a name');
    if (!(value >= 0 && value <= 1)) problems.push(`the answer "${name}" is worth ${value}, which is not in [0, 1]`);
  }
  return problems;
}
