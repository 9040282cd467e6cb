import { projectSettings, type ProjectSettings, type ProjectSettingsPatch } from '#contracts';
import { mergeSettings } from '#persistence';
import type { Reader } from './postgres/reader.js';

/** A project's settings, and since when they hold (microseconds). */
export interface KnownSettings {
  readonly settings: ProjectSettings;
  readonly sinceUs: number;
}

/** Every project's newest settings over `base`, which is what the services' own file and environment say. */
export async function readSettings(reader: Reader, base: ProjectSettingsPatch): Promise<Map<string, KnownSettings>> {
  const rows = await reader.query<{ project: string; doc: ProjectSettingsPatch | null; since: number | null }>(
    `SELECT p.project, s.doc, (extract(epoch FROM s.at) * 1000000)::bigint AS since FROM edge.projects p
     LEFT JOIN LATERAL (SELECT doc, at FROM edge.settings WHERE project = p.project ORDER BY version DESC LIMIT 1) s ON true`,
  );
  return new Map(
    rows.map(({ project, doc, since }) => [
      project,
      { settings: projectSettings.parse(mergeSettings(base, doc ?? {})), sinceUs: since ?? 0 },
    ]),
  );
}
