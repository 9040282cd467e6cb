import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import {
  consumers,
  deadLetter,
  events,
  processSettings,
  projectSettings,
  streams,
  turnEnded,
  type EventContract,
} from '../index.js';
import { asyncApiDocument } from './asyncapi.js';
import { eventsMarkdown } from './events-table.js';
import { grantsMarkdown, rolesSql } from './grants-table.js';
import { eventSchemaDocument } from './json-schema.js';
import { meaningOf, settingNames, settingsMarkdown } from './settings-table.js';

const folder = join(fileURLToPath(new URL('.', import.meta.url)), 'examples');
const examples: Record<string, unknown> = Object.fromEntries(
  readdirSync(folder).map((name) => [name.replace(/\.json$/, ''), JSON.parse(readFileSync(join(folder, name), 'utf8'))]),
);
const named = events.map((event): [string, EventContract] => [event.type, event]);

interface Document {
  channels: Record<
    string,
    { address: string; messages: Record<string, { $ref: string }>; parameters?: Record<string, unknown>; 'x-stream': string }
  >;
  operations: Record<
    string,
    { action: string; channel: { $ref: string }; messages: { $ref: string }[]; 'x-actor': string; 'x-durable'?: string }
  >;
  components: {
    messages: Record<string, { name: string; payload: { $ref: string }; examples?: unknown[] }>;
    schemas: Record<string, object>;
  };
  'x-streams': Record<string, unknown>;
}
const document = asyncApiDocument(examples) as unknown as Document;

/** What a local reference points at. */
function resolve(reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

describe('golden payloads', () => {
  it('there is one of every event, and none of anything else', () => {
    expect(Object.keys(examples).sort()).toEqual(events.map(({ type }) => type).sort());
  });

  it.each(named)('the one of %s satisfies its schema', (type, { schema }) => {
    expect(schema.safeParse(examples[type]).error).toBeUndefined();
  });

  it.each(named.filter(([type]) => type !== 'dead'))('the one of %s satisfies its JSON Schema', (type, event) => {
    const validate = new Ajv2020({ strict: false, allowUnionTypes: true }).compile(eventSchemaDocument(event));
    expect(validate(examples[type]) ? [] : validate.errors).toEqual([]);
  });

  it.each(named)('a consumer of %s accepts a field that it does not know, in it and in what it holds', (type, { schema }) => {
    const added = JSON.parse(
      JSON.stringify(examples[type], (_, value: unknown) =>
        typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, added_in_a_later_version: 1 } : value,
      ),
    ) as unknown;
    expect(schema.safeParse(added).error).toBeUndefined();
  });

  it('a JSON Schema lets unknown fields through as well, and refuses what its event refuses', () => {
    const validate = new Ajv2020({ strict: false }).compile(eventSchemaDocument(turnEnded as unknown as EventContract));
    expect(validate({ session_id: 's', turn_index: 0, later: true })).toBe(true);
    expect(validate({ session_id: 's', turn_index: -1 })).toBe(false);
    expect(validate({ turn_index: 0 })).toBe(false);
  });
});

describe('the AsyncAPI document', () => {
  it('has every event exactly once: one channel, one message, one schema', () => {
    const types = events.map(({ type }) => type).sort();
    expect(
      Object.values(document.components.messages)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(types);
    expect(new Set(Object.values(document.channels).map(({ address }) => address)).size).toBe(events.length);
    expect(Object.keys(document.components.schemas)).toHaveLength(events.length);
  });

  it('refers only to what is in it', () => {
    const all = references(document).filter((reference) => !reference.startsWith('#/definitions') && reference !== '#');
    expect(all.length).toBeGreaterThan(60);
    expect(all.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });

  it('declares exactly the parameters that each address has', () => {
    for (const { address, parameters = {} } of Object.values(document.channels))
      expect(Object.keys(parameters)).toEqual([...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  });

  it('has an operation for every publisher and every durable consumer, on a channel that exists', () => {
    const operations = Object.values(document.operations);
    expect(operations.filter(({ action }) => action === 'send')).toHaveLength(
      events.flatMap(({ publishers }) => publishers).length,
    );
    expect(operations.flatMap((one) => one['x-durable'] ?? []).sort()).toEqual(
      Object.values(consumers)
        .map(({ durable }) => durable)
        .sort(),
    );
    for (const { messages, channel } of operations) expect(messages[0]?.$ref.startsWith(`${channel.$ref}/messages/`)).toBe(true);
  });

  it('names the stream of every channel and describes every stream', () => {
    expect(Object.keys(document['x-streams']).sort()).toEqual(streams.map(({ name }) => name).sort());
    for (const channel of Object.values(document.channels)) expect(document['x-streams']).toHaveProperty(channel['x-stream']);
  });

  it('carries an example with every message, valid by the schema beside it', () => {
    for (const [name, { payload, examples: shown = [] }] of Object.entries(document.components.messages)) {
      expect({ name, shown: shown.length }).toEqual({ name, shown: 1 });
      const validate = new Ajv({ strict: false }).compile(resolve(payload.$ref) as object);
      expect(validate((shown[0] as { payload: unknown }).payload) ? [] : validate.errors).toEqual([]);
    }
  });
});

describe('the tables', () => {
  it('events.md has one line per event and per stream', () => {
    const lines = eventsMarkdown().split('\n');
    for (const event of events) {
      const subject = event.subject(event.type === 'health' ? '_sys' : '<project>', ...event.tail.map((token) => `<${token}>`));
      expect(lines.filter((line) => line.startsWith(`| \`${subject}\` |`))).toHaveLength(1);
    }
    for (const { name } of streams) expect(lines.filter((line) => line.startsWith(`| ${name} |`))).toHaveLength(1);
    expect(eventsMarkdown()).toContain(deadLetter.subject('<project>', consumers.scoringTurns.durable));
  });

  it('settings.md has every setting once, each with a meaning', () => {
    const text = settingsMarkdown();
    for (const name of settingNames) expect(text.split(`| \`${name}\` | \`FLEETMEND_${name.toUpperCase()}\` |`)).toHaveLength(2);
    expect(settingNames).toHaveLength(Object.keys(projectSettings.shape).length + Object.keys(processSettings.shape).length);
  });

  it('a setting without a meaning is refused', () => {
    expect(() => meaningOf('brand_new', z.boolean().default(false))).toThrow('no meaning');
  });

  it('grants.md reads column grants, joins lines of one table, and adds the journal', () => {
    const text = grantsMarkdown({ fm_a: ['SELECT, INSERT ON x.t, x.u', 'UPDATE (b, c) ON x.t'], fm_b: ['SELECT ON x.u'] });
    expect(text).toContain('| `x.t` | S I U (b, c) |  |');
    expect(text).toContain('| `x.u` | S I | S |');
    expect(text).toContain('| `journal.events` | I | I |');
    expect(rolesSql({ fm_a: [] })).toContain('CREATE ROLE fm_a NOLOGIN');
  });

  it('a grant that cannot be read is refused rather than left out', () => {
    expect(() => grantsMarkdown({ fm_a: ['everything'] })).toThrow('not of the form');
  });
});
