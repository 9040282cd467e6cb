/** One server-sent event. */
export interface ServerEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Reads text/event-stream; comments and `retry` are passed over. An event that the end cuts off is not given. */
export async function* serverEvents(source: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let event = emptyEvent();
  for await (const chunk of source) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') addField(event, line);
      else {
        if (event.data.length > 0) yield { type: event.type, data: event.data.join('\n'), id: event.id };
        event = emptyEvent();
      }
    }
  }
}

interface PartialEvent {
  type: string;
  data: string[];
  id: string | undefined;
}

function emptyEvent(): PartialEvent {
  return { type: 'message', data: [], id: undefined };
}

function addField(event: PartialEvent, line: string): void {
  const colon = line.indexOf(':');
  if (colon === 0) return;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (name === 'event') event.type = value;
  else if (name === 'id') event.id = value;
  else if (name === 'data') event.data.push(value);
}
