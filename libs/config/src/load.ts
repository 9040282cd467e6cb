import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { processSettings, projectSettings, type ProcessSettings, type ProjectSettingsPatch } from '#contracts';

/** What a process runs with: its own settings, and what it puts under every project's row. */
export interface LoadedSettings {
  readonly process: ProcessSettings;
  readonly projects: ProjectSettingsPatch;
}

/** A setting that cannot be used: says which, why, and where it came from. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

type Values = Record<string, unknown>;
type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'FLEETMEND_';
/** Variables of the command line, which are not settings. */
const COMMAND_LINE = new Set(['FLEETMEND_URL', 'FLEETMEND_KEY', 'FLEETMEND_SETTINGS']);
const DEFAULT_FILE = 'fleetmend.json';
/** Names that other tools use for the same thing; ours wins. */
const ALIASES: Readonly<Record<string, string>> = {
  NATS_URL: 'nats_url',
  DATABASE_URL: 'database_url',
  NATS_SERVER_BIN: 'nats_server_bin',
};

/** Defaults, then the settings file (`FLEETMEND_SETTINGS`, else `fleetmend.json` when there is one), then `FLEETMEND_*`. */
export function loadSettings(env: Environment = process.env, overrides: Values = {}): LoadedSettings {
  const file = readSettingsFile(env['FLEETMEND_SETTINGS']);
  const values: Values = { ...file, ...fromAliases(env), ...fromPrefix(env), ...overrides };
  const own = new Set(Object.keys(processSettings.shape));
  const entries = Object.entries(values);
  return {
    process: parsed(processSettings, Object.fromEntries(entries.filter(([name]) => own.has(name)))),
    projects: parsedPatch(Object.fromEntries(entries.filter(([name]) => !own.has(name)))),
  };
}

function readSettingsFile(path: string | undefined): Values {
  let text: string;
  try {
    text = readFileSync(path ?? DEFAULT_FILE, 'utf8');
  } catch (error) {
    if (path === undefined && (error as { code?: string }).code === 'ENOENT') return {};
    throw new SettingsError(`the settings file ${path ?? DEFAULT_FILE} cannot be read: ${(error as Error).message}`);
  }
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch (error) {
    throw new SettingsError(`the settings file ${path ?? DEFAULT_FILE} is not a JSON object: ${(error as Error).message}`);
  }
}

function fromAliases(env: Environment): Values {
  return Object.fromEntries(
    Object.entries(ALIASES).flatMap(([variable, name]) => (env[variable] ? [[name, env[variable]]] : [])),
  );
}

function fromPrefix(env: Environment): Values {
  const entries = Object.entries(env).filter(
    ([name, value]) => name.startsWith(PREFIX) && !COMMAND_LINE.has(name) && value !== undefined && value !== '',
  );
  return Object.fromEntries(
    entries.map(([name, value]) => [name.slice(PREFIX.length).toLowerCase(), valueOf(name, value ?? '')]),
  );
}

/** `true`, numbers, lists and maps are written as JSON; names lists may also be `a,b`; texts as they are. */
function valueOf(variable: string, text: string): unknown {
  const name = variable.slice(PREFIX.length).toLowerCase();
  const shape = { ...processSettings.shape, ...projectSettings.shape }[name as 'gate_window'] as z.ZodType | undefined;
  if (shape === undefined)
    throw new SettingsError(`${variable} is not a setting; settings are listed in docs/generated/settings.md`);
  if (shape.safeParse(text).success) return text;
  if (/^(yes|on)$/i.test(text)) return true;
  if (/^(no|off)$/i.test(text)) return false;
  try {
    return JSON.parse(text.toLowerCase() === 'true' || text.toLowerCase() === 'false' ? text.toLowerCase() : text);
  } catch {
    return text.includes(',') ? text.split(',').map((part) => part.trim()) : shape.safeParse([text]).success ? [text] : text;
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, values: Values): z.output<Schema> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  throw new SettingsError(explain(result.error));
}

/** Checked as a whole, but only what was given: what is missing must not overrule a later source with its default. */
function parsedPatch(values: Values): ProjectSettingsPatch {
  const complete = parsed(projectSettings, values) as Values;
  return Object.fromEntries(Object.keys(values).map((name) => [name, complete[name]]));
}

/** Every problem on a line of its own, each with the setting's name. */
export function explain(error: z.ZodError): string {
  return error.issues.map((issue) => `${issue.path.map(String).join('.') || 'settings'}: ${issue.message}`).join('\n');
}
