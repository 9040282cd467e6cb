import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { projectSettings, type ProjectSettings, type ProjectSettingsPatch } from '#contracts';
import type { ProjectDirectory } from '#messaging';
import { classifyDatabaseError } from './errors.js';
import { readableSettings } from './readable-settings.js';

/** How long a change of a project's settings may take to reach a service. */
const REFRESH_MS = 1_000;
/** Between two reads for projects that nobody knows: steady traffic that names one waits, and the database does not notice. */
const UNKNOWN_PAUSE_MS = 100;

interface SettingsRow {
  readonly project: string;
  readonly version: number | null;
  readonly doc: unknown;
}

interface Known {
  readonly version: number;
  readonly settings: ProjectSettings;
  /** What of its row cannot be read. */
  readonly trouble: string | null;
}

/**
 * Projects and their settings, read at most once a second: defaults, then settings file and environment (`base`), then the
 * project's newest row.
 */
export class SettingsDirectory implements ProjectDirectory {
  private projects: ReadonlyMap<string, Known> = new Map();
  /** When the newest read that ended well began: what it did not see was not there before. */
  private readFrom = -Infinity;
  private lastBegun = -Infinity;
  private reading: Promise<void> | undefined;
  private queued: Promise<void> | undefined;
  private said: string | null = null;

  constructor(
    private readonly db: DataSource,
    private readonly base: ProjectSettingsPatch,
    /** Told once when a project's row cannot be read as a whole (null: all can be again). */
    private readonly onTrouble: (detail: string | null) => void = () => undefined,
  ) {}

  /** Never says no by a read that began before it was asked: the project may have been created since. Then waits, 100 ms at most. */
  async exists(project: string): Promise<boolean> {
    const asked = performance.now();
    await this.refresh();
    if (!this.projects.has(project) && this.readFrom < asked) await this.readAgain();
    return this.projects.has(project);
  }

  /** A project's settings in force; the defaults for a project that does not exist. */
  async of(project: string): Promise<ProjectSettings> {
    await this.refresh();
    return this.projects.get(project)?.settings ?? projectSettings.parse(this.base);
  }

  async all(): Promise<ReadonlyMap<string, ProjectSettings>> {
    await this.refresh();
    return new Map([...this.projects].map(([project, { settings }]) => [project, settings]));
  }

  private async refresh(): Promise<void> {
    if (performance.now() - this.readFrom >= REFRESH_MS) await this.begin();
  }

  /** One read at a time. */
  private begin(): Promise<void> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** A read that has not begun yet, shared by all who ask before it does. */
  private readAgain(): Promise<void> {
    this.queued ??= this.beginLater();
    return this.queued;
  }

  private async beginLater(): Promise<void> {
    await this.reading?.catch(() => undefined);
    const pause = this.lastBegun + UNKNOWN_PAUSE_MS - performance.now();
    if (pause > 0) await sleep(pause);
    // Somebody's refresh may have begun meanwhile, before the last of those who wait here asked.
    while (this.reading !== undefined) await this.reading.catch(() => undefined);
    this.queued = undefined;
    await this.begin();
  }

  private async read(): Promise<void> {
    const from = performance.now();
    this.lastBegun = from;
    const rows = await this.rows();
    this.projects = new Map(rows.map((row) => [row.project, this.known(row, this.projects.get(row.project))]));
    this.readFrom = from;
    this.say();
  }

  private known({ version, doc }: SettingsRow, before: Known | undefined): Known {
    // The same object while nothing changed: callers may cache what they derive from it.
    if (before?.version === (version ?? 0)) return before;
    return { version: version ?? 0, ...readableSettings(this.base, doc ?? {}, before?.settings) };
  }

  private say(): void {
    const troubles = [...this.projects].flatMap(([project, { trouble }]) => (trouble === null ? [] : [`${project}: ${trouble}`]));
    const detail = troubles.length === 0 ? null : `settings that this version cannot read: ${troubles.join('; ')}`;
    if (detail === this.said) return;
    this.said = detail;
    this.onTrouble(detail);
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
