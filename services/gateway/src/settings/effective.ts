import {
  projectSettings,
  type EffectiveSettings,
  type ProjectSettings,
  type ProjectSettingsPatch,
  type SettingOrigin,
} from '#contracts';
import { unpriced, type PriceTable } from '#llm/prices';
import { mergeSettings } from '#persistence';
import type { FieldProblem } from '../http/problem.js';
import type { SettingsRow } from '../postgres/project-settings.js';
import { stillMasked } from './masked-urls.js';

type Values = Readonly<Record<string, unknown>>;

/** The settings in force for a project, and where each value comes from; entries of maps one by one. */
export function effectiveSettings(project: string, base: ProjectSettingsPatch, row: SettingsRow): EffectiveSettings {
  const settings = projectSettings.parse(mergeSettings(base, row.doc));
  const origins: Record<string, SettingOrigin> = {};
  for (const [name, value] of Object.entries(settings)) {
    origins[name] = originOf(name, base, row.doc);
    if (isMap(value)) for (const entry of Object.keys(value)) origins[`${name}.${entry}`] = originOfEntry(name, entry, row.doc);
  }
  return { project, version: row.version, settings, origins };
}

function originOf(name: string, base: Values, own: Values): SettingOrigin {
  if (Object.hasOwn(own, name)) return 'project';
  return Object.hasOwn(base, name) ? 'process' : 'default';
}

function originOfEntry(name: string, entry: string, own: Values): SettingOrigin {
  const map = own[name];
  return isMap(map) && Object.hasOwn(map, entry) ? 'project' : 'process';
}

interface Known {
  readonly base: ProjectSettingsPatch;
  readonly doc: ProjectSettingsPatch;
  readonly prices: PriceTable;
}

/**
 * What is wrong with a patch; empty when nothing is. Checked together with what it will be merged into. Nulls, which take a value
 * away, are checked for their names only.
 */
export function problemsOf(patch: Values, { base, doc, prices }: Known): FieldProblem[] {
  const known = Object.keys(projectSettings.shape);
  const unknown = Object.keys(patch).filter((name) => !known.includes(name));
  const errors = unknown.map((path) => ({ path, message: `is not a setting; settings: ${known.join(', ')}` }));
  const merged = mergeSettings(base, patched(doc, patch));
  const { issues, settings } = checked(Object.fromEntries(Object.entries(merged).filter(([name]) => known.includes(name))));
  for (const name of stillMasked(patch)) {
    errors.push({ path: `metrics.${name}.url`, message: 'is as it is shown, without its query: give the whole address' });
  }
  if (issues.length > 0) return [...errors, ...issues];
  const problem = unpriced(settings, prices);
  return problem === null ? errors : [...errors, { path: problem.setting, message: problem.message }];
}

/** Names that do not fit each other are looked for only when every value can be read: then once more without those that cannot. */
function checked(values: Values): { issues: FieldProblem[]; settings: ProjectSettings } {
  const result = projectSettings.safeParse(values);
  if (result.success) return { issues: [], settings: result.data };
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const wrong = new Set(result.error.issues.map(({ path }) => String(path[0])));
  // Without its own metrics, a project's tiers would be wrong as well.
  if (wrong.has('metrics') || !Object.keys(values).some((name) => wrong.has(name)))
    return { issues, settings: projectSettings.parse({}) };
  const rest = checked(Object.fromEntries(Object.entries(values).filter(([name]) => !wrong.has(name))));
  return { ...rest, issues: [...issues, ...rest.issues] };
}

/** The project's own values after a patch: joined, and without what null took away. */
export function patched(doc: ProjectSettingsPatch, patch: Values): ProjectSettingsPatch {
  const joined = mergeSettings(doc, withoutNulls(patch)) as Values;
  const entries = Object.entries(joined)
    .filter(([name]) => patch[name] !== null)
    .map(([name, value]) => [name, remaining(value, patch[name])] as const);
  return Object.fromEntries(entries.filter(([, value]) => !(isMap(value) && Object.keys(value).length === 0)));
}

function remaining(value: unknown, change: unknown): unknown {
  if (!isMap(value) || !isMap(change)) return value;
  return Object.fromEntries(Object.entries(value).filter(([entry]) => change[entry] !== null));
}

function withoutNulls(patch: Values): Values {
  const kept = Object.entries(patch).filter(([, value]) => value !== null);
  return Object.fromEntries(
    kept.map(([name, value]) => [
      name,
      isMap(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null)) : value,
    ]),
  );
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
