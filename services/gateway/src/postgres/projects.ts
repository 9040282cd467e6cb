import type { ApiKey, Project } from '#contracts';
import { derivedId } from '#domain/ids';
import type { UnitOfWork } from '#persistence';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';
import { insertKey, type NewKey } from './keys.js';

const COLUMNS = `project, ${micros('created_at')} AS created_at`;

export class Projects {
  constructor(
    private readonly db: Database,
    private readonly work: UnitOfWork,
  ) {}

  /** `only`: this project alone. Newest first; at most `limit` + 1. */
  async list(only: string | undefined, after: After | null, limit: number): Promise<Project[]> {
    const where = new Conditions()
      .add(only, (p) => `project = ${p}`)
      .require('true')
      .after(after, 'edge.projects.created_at', 'project');
    return this.db.query<Project>(
      `SELECT ${COLUMNS} FROM edge.projects WHERE ${where.toString()} ORDER BY edge.projects.created_at DESC, project LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  /** A new project, with its first key when one is given; undefined when it exists already. */
  async create(
    project: string,
    firstKey: NewKey | null,
    who: string,
  ): Promise<{ project: Project; key: ApiKey | null } | undefined> {
    return this.work.run(async (tx) => {
      const rows = await tx.query<Project>(
        `INSERT INTO edge.projects (project) VALUES ($1) ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
        [project],
      );
      const [created] = rows;
      if (created === undefined) return undefined;
      tx.journal({ id: derivedId('project_created', project), project, type: 'project_created', doc: { who } });
      const key = firstKey === null ? undefined : await insertKey(tx, firstKey, who);
      return { project: created, key: key ?? null };
    });
  }
}
