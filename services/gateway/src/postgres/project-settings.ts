import type { ProjectSettingsPatch } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction, UnitOfWork } from '#persistence';

export interface SettingsRow {
  /** 0: the project has no row of its own. */
  readonly version: number;
  readonly doc: ProjectSettingsPatch;
}

export interface SettingsChange {
  readonly project: string;
  readonly who: string;
  /** As it was asked for, for the journal. */
  readonly patch: Readonly<Record<string, unknown>>;
}

/** The settings rows of projects; every version stays. */
export class ProjectSettingsRows {
  constructor(private readonly work: UnitOfWork) {}

  async read(project: string): Promise<SettingsRow> {
    return this.work.run((tx) => newest(tx, project));
  }

  /** Writes what `change` makes of the newest row as the next version; nothing when it makes the same. Two at once follow each other. */
  async change(
    { project, who, patch }: SettingsChange,
    change: (doc: ProjectSettingsPatch) => ProjectSettingsPatch,
  ): Promise<SettingsRow> {
    return this.work.run(async (tx) => {
      const before = await newest(tx, project);
      const doc = change(before.doc);
      if (JSON.stringify(doc) === JSON.stringify(before.doc)) return before;
      const version = before.version + 1;
      await tx.query('INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, $2, $3, $4)', [
        project,
        version,
        JSON.stringify(doc),
        who,
      ]);
      tx.journal({
        id: derivedId('settings_changed', project, version),
        project,
        type: 'settings_changed',
        doc: { version, who, patch },
      });
      return { version, doc };
    });
  }
}

async function newest(tx: Transaction, project: string): Promise<SettingsRow> {
  const rows = await tx.query<SettingsRow>(
    'SELECT version, doc FROM edge.settings WHERE project = $1 ORDER BY version DESC LIMIT 1',
    [project],
  );
  return rows[0] ?? { version: 0, doc: {} };
}
