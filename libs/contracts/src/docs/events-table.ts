import { events } from '../catalogue.js';
import { LIVE_PREFIX, streams, type StreamContract } from '../streams.js';
import { consumersOf, deadLetterSubject, subjectOf } from './events.js';
import { code, GENERATED, table } from './markdown.js';

const DASH = '–';

/** docs/generated/events.md: every event and every stream, once. */
export function eventsMarkdown(): string {
  const rows = events.map((event) => {
    const readers = consumersOf(event);
    const many = (values: readonly string[]): string => values.join(', ') || DASH;
    return [
      code(subjectOf(event, (token) => `<${token}>`)),
      event.stream,
      event.publishers.join(', '),
      many([...readers.map(({ service }) => service), ...(event.audience === 'outside' ? ['anyone'] : [])]),
      many(readers.map(({ durable }) => code(durable))),
      many(readers.map((consumer) => code(deadLetterSubject(consumer, '<project>')))),
      event.summary,
    ];
  });
  return `${[
    GENERATED,
    '# Events',
    'One line per event. `<session>` is the session id where it fits into a subject, else `~` and 26 characters of its base32 SHA-256. The schema of an event is `schemas/<event>.json`; channels, headers and examples are in `asyncapi.json`.',
    table(['subject', 'stream', 'published by', 'read by', 'durable', 'dead letters', 'what it says'], rows),
    '## Streams',
    'A **queue** keeps a message until its one consumer has acknowledged it, and refuses new ones when full. A **log** keeps by age and size, and lets the oldest go.',
    table(
      ['stream', 'kind', 'size', 'age', 'messages', 'republished under', 'duplicate window', 'what it holds'],
      streams.map(streamRow),
    ),
  ].join('\n\n')}\n`;
}

function streamRow(stream: StreamContract): string[] {
  const perSubject = stream.maxMessagesPerSubject === undefined ? [] : [`${stream.maxMessagesPerSubject} per subject`];
  const inAll = stream.maxMessages === undefined ? [] : [String(stream.maxMessages)];
  return [
    stream.name,
    stream.kind,
    `${stream.maxBytes / 1024 / 1024} MiB`,
    stream.maxAgeS === undefined ? DASH : `${stream.maxAgeS / 3600} h`,
    [...inAll, ...perSubject].join(', ') || DASH,
    stream.republish ? code(`${LIVE_PREFIX}.<subject>`) : DASH,
    `${stream.duplicateWindowS} s`,
    stream.summary,
  ];
}
