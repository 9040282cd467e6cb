import { events } from '../catalogue.js';
import { asyncApiDocument, type Examples } from './asyncapi.js';
import { eventsMarkdown } from './events-table.js';
import { grantsMarkdown, rolesSql, type Grants } from './grants-table.js';
import { eventSchemaDocument } from './json-schema.js';
import { settingsMarkdown } from './settings-table.js';

export interface GeneratedInput {
  readonly examples: Examples;
  readonly grants: Grants;
  readonly openApi: unknown;
}

/** Every generated file: its path from the root of the repository, and its text. */
export function generatedFiles({ examples, grants, openApi }: GeneratedInput): Map<string, string> {
  const files = new Map<string, string>([
    ['docs/generated/asyncapi.json', json(asyncApiDocument(examples))],
    ['docs/generated/openapi.json', json(openApi)],
    ['docs/generated/events.md', eventsMarkdown()],
    ['docs/generated/settings.md', settingsMarkdown()],
    ['docs/generated/grants.md', grantsMarkdown(grants)],
    ['deploy/postgres/roles.sql', rolesSql(grants)],
  ]);
  // A dead letter is whatever bytes came: a schema of it would say nothing.
  for (const event of events.filter(({ type }) => type !== 'dead'))
    files.set(`docs/generated/schemas/${event.type}.json`, json(eventSchemaDocument(event)));
  return files;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
