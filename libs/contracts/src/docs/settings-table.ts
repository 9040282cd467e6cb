import type { z } from 'zod';
import { processSettings, projectSettings } from '../settings.js';
import { jsonSchema } from './json-schema.js';
import { code, GENERATED, table } from './markdown.js';

/** Every setting's name. */
export const settingNames: readonly string[] = [...Object.keys(projectSettings.shape), ...Object.keys(processSettings.shape)];

/** docs/generated/settings.md: every setting once. Throws for a setting without a meaning. */
export function settingsMarkdown(): string {
  const head = ['setting', 'environment variable', 'value', 'default', 'meaning'];
  return `${[
    GENERATED,
    '# Settings',
    'A value comes from the default, then the settings file (`fleetmend.json` in the working folder, or the file that `FLEETMEND_SETTINGS` names), then the environment, then, for settings of a project, the row of the project. The later one wins. Maps (`thresholds`, `gate_overrides`) are joined entry by entry with the row of the project. An unknown setting or metric is refused when a process starts, with the list of those there are. Lists and maps are written as JSON in the environment; a list of names may be written `a,b`.',
    '## Settings of a project',
    'Whoever runs the services may set them for all projects, by file or environment. A key with the scope `operate` may set them for its project (`PUT /v1/settings`); null takes the own value of the project away. A change is in force within a second, for turns accepted from then on, and is journaled.',
    table(head, rowsOf(projectSettings.shape)),
    '## Settings of a process',
    'Only whoever runs the services may set them, by file or environment. A project cannot.',
    table(head, rowsOf(processSettings.shape)),
  ].join('\n\n')}\n`;
}

function rowsOf(shape: Readonly<Record<string, z.ZodType>>): string[][] {
  return Object.entries(shape).map(([name, schema]) => [
    code(name),
    code(`FLEETMEND_${name.toUpperCase()}`),
    valueOf(schema),
    defaultOf(schema),
    meaningOf(name, schema),
  ]);
}

/** The default is where the meaning may be hidden: `z.int().describe(…).default(5)`. */
function describedIn(schema: z.ZodType): string | undefined {
  const inner = (schema._zod.def as { innerType?: z.ZodType }).innerType;
  return schema.description ?? (inner === undefined ? undefined : describedIn(inner));
}

export function meaningOf(name: string, schema: z.ZodType): string {
  const meaning = describedIn(schema);
  if (meaning === undefined) throw new Error(`the setting ${name} has no meaning: describe() it in settings.ts`);
  return meaning;
}

function defaultOf(schema: z.ZodType): string {
  const result = schema.safeParse(undefined);
  return result.success && result.data !== undefined ? code(JSON.stringify(result.data)) : '–';
}

function valueOf(schema: z.ZodType): string {
  const {
    type,
    enum: values,
    minimum,
    maximum,
    items,
  } = jsonSchema(schema, 'draft-2020-12') as {
    type?: string;
    enum?: string[];
    minimum?: number;
    maximum?: number;
    items?: { type?: string };
  };
  if (values !== undefined) return values.map(code).join(', ');
  if (type === 'array') return `list of ${items?.type ?? 'value'}s`;
  if (type === 'object') return 'map';
  const bounds = [minimum === undefined ? '' : `${minimum} or more`, maximum === undefined ? '' : `at most ${maximum}`];
  return [type ?? 'text', ...bounds.filter((bound) => bound !== '')].join(', ');
}
