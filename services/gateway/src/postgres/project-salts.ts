import type { Database } from './database.js';

/** What keeps the arms of a project's sessions from being guessed. A salt never changes, so each is read once. */
export class ProjectSalts {
  private readonly known = new Map<string, string>();

  constructor(private readonly db: Database) {}

  /** Of a project that exists; empty for another, which has no rules either. */
  async of(project: string): Promise<string> {
    const known = this.known.get(project);
    if (known !== undefined) return known;
    const [row] = await this.db.query<{ salt: string }>('SELECT salt FROM edge.projects WHERE project = $1', [project]);
    if (row !== undefined) this.known.set(project, row.salt);
    return row?.salt ?? '';
  }
}
