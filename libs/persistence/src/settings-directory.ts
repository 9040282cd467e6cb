import type { DataSource } from 'typeorm';
import { projectSettings, type ProjectSettings, type ProjectSettingsPatch } from '#contracts';
import type { ProjectDirectory } from '#messaging';
import { classifyDatabaseError } from './errors.js';
import { mergeSettings } from './merge-settings.js';

/** How long a change of a project's settings may take to reach a service. */
const REFRESH_MS = 1_000;
/** A project that nobody knows may just have been created: looked for again, but not for every message that names it. */
const UNKNOWN_REFRESH_MS = 100;

interface SettingsRow {
  readonly project: string;
  readonly version: number | null;
  readonly doc: ProjectSettingsPatch | null;
}

interface Known {
  readonly version: number;
  readonly settings: ProjectSettings;
}

/**
 * Projects and their settings, read at most once a second: defaults, then settings file and environment (`base`), then the
 * project's newest row.
 */
export class SettingsDirectory implements ProjectDirectory {
  private projects: ReadonlyMap<string, Known> = new Map();
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly db: DataSource,
    private readonly base: ProjectSettingsPatch,
  ) {}

  async exists(project: string): Promise<boolean> {
    await this.refresh(REFRESH_MS);
    if (!this.projects.has(project)) await this.refresh(UNKNOWN_REFRESH_MS);
    return this.projects.has(project);
  }

  /** A project's settings in force; the defaults for a project that does not exist. */
  async of(project: string): Promise<ProjectSettings> {
    await this.refresh(REFRESH_MS);
    return this.projects.get(project)?.settings ?? projectSettings.parse(this.base);
  }

  async all(): Promise<ReadonlyMap<string, ProjectSettings>> {
    await this.refresh(REFRESH_MS);
    return new Map([...this.projects].map(([project, { settings }]) => [project, settings]));
  }

  private async refresh(maxAgeMs: number): Promise<void> {
    if (performance.now() - this.readAt < maxAgeMs) return;
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    await this.reading;
  }

  private async read(): Promise<void> {
    const rows = await this.rows();
    this.projects = new Map(
      rows.map(({ project, version, doc }) => {
        const known = this.projects.get(project);
        // The same object while nothing changed: callers may cache what they derive from it.
        if (known?.version === (version ?? 0)) return [project, known];
        return [project, { version: version ?? 0, settings: projectSettings.parse(mergeSettings(this.base, doc ?? {})) }];
      }),
    );
    this.readAt = performance.now();
  }

  private async rows(): Promise<SettingsRow[]> {
    try {
      return await this.db.query<SettingsRow[]>(
        `SELECT p.project, s.version, s.doc FROM edge.projects p
         LEFT JOIN LATERAL (SELECT version, doc FROM edge.settings WHERE project = p.project ORDER BY version DESC LIMIT 1) s ON true`,
      );
    } catch (error) {
      throw classifyDatabaseError(error);
    }
  }
}
