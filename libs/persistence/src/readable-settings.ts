import { projectSettings, type ProjectSettings, type ProjectSettingsPatch } from '#contracts';
import { mergeSettings } from './merge-settings.js';

/**
 * The settings of a project's row over `base`. A row that does not fit, perhaps because a newer version wrote it, must not stop
 * the other projects, nor its own: the settings known before stay in force, else those keys of the row hold that can be read.
 * `trouble` says what cannot.
 */
export function readableSettings(
  base: ProjectSettingsPatch,
  row: unknown,
  before: ProjectSettings | undefined,
): { settings: ProjectSettings; trouble: string | null } {
  const patch = typeof row === 'object' && row !== null ? row : {};
  const whole = projectSettings.safeParse(mergeSettings(base, patch));
  if (whole.success) return { settings: whole.data, trouble: null };
  const trouble = whole.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join(', ');
  return { settings: before ?? projectSettings.parse(mergeSettings(base, readableKeys(patch))), trouble };
}

function readableKeys(row: object): ProjectSettingsPatch {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } } | undefined>> = projectSettings.shape;
  return Object.fromEntries(Object.entries(row).filter(([key, value]) => shape[key]?.safeParse(value).success === true));
}
