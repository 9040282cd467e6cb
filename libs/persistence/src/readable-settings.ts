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
  return { settings: before ?? withoutUnreadable(base, patch), trouble };
}

/** A key that can be read for itself may still not fit the others (a tier that names a metric nobody knows): it goes too. */
function withoutUnreadable(base: ProjectSettingsPatch, row: object): ProjectSettings {
  let patch = readableKeys(row);
  for (;;) {
    const result = projectSettings.safeParse(mergeSettings(base, patch));
    if (result.success) return result.data;
    const wrong = new Set(result.error.issues.map(({ path }) => String(path[0])));
    const kept = Object.fromEntries(Object.entries(patch).filter(([key]) => !wrong.has(key)));
    // Nothing of the row is at fault by itself: then all of it is.
    patch = Object.keys(kept).length < Object.keys(patch).length ? kept : {};
    if (Object.keys(patch).length === 0) return projectSettings.parse(base);
  }
}

function readableKeys(row: object): ProjectSettingsPatch {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } } | undefined>> = projectSettings.shape;
  return Object.fromEntries(Object.entries(row).filter(([key, value]) => shape[key]?.safeParse(value).success === true));
}
