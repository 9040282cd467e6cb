import type { Dialect } from '../dialect.js';
import type { Conversation, Message } from '../messages.js';
import type { SpanView } from '../span-view.js';

/** OpenLIT: the GenAI conventions, which otel-genai reads, and (before 2025) the prompt as one text of lines `role: words`. */
export const openlit: Dialect = {
  name: 'openlit',
  speaks: (span) =>
    span.scope.startsWith('@openlit/') ||
    span.scope.startsWith('openlit') ||
    span.peek('telemetry.sdk.name') === 'openlit' ||
    span.resource.get('telemetry.sdk.name') === 'openlit',
  fields: { input: [promptLines] },
};

const LINE = /^(system|developer|user|assistant|tool): /;

function promptLines(span: SpanView): Conversation | undefined {
  const event = span.events.find(({ name }) => name === 'gen_ai.content.prompt');
  const prompt = event?.attributes.get('gen_ai.prompt');
  if (event === undefined || typeof prompt !== 'string' || !LINE.test(prompt)) return undefined;
  span.readEvent(event);
  return { messages: fromLines(prompt.split('\n')) };
}

/** A line that begins with no role goes on with the message before. */
function fromLines(lines: readonly string[]): Message[] {
  const messages: { role: string; lines: string[] }[] = [];
  for (const line of lines) {
    const role = LINE.exec(line)?.[1];
    if (role !== undefined) messages.push({ role, lines: [line.slice(role.length + 2)] });
    else messages.at(-1)?.lines.push(line);
  }
  return messages.map(({ role, lines: words }) => ({ role, content: words.join('\n') }));
}
