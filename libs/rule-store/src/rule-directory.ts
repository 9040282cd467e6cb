import { ProjectRules } from './project-rules.js';
import { RULE_COLUMNS, storedRule, type RuleRow } from './rule-row.js';

/** Asks the database: in a transaction, or outside any. */
export type Read = <Row>(sql: string, parameters: readonly unknown[]) => Promise<Row[]>;

export interface DirectoryOptions {
  readonly read: Read;
  /** Milliseconds for which a version that was read is believed, unless `markStale` says otherwise. 0: never. */
  readonly freshForMs: number;
}

interface Held {
  readonly rules: ProjectRules;
  /** When the newest read that ended well began. */
  readFrom: number;
  /** When it was last said that there is a newer version: reads that began before may have missed it. */
  staleSince: number;
  reading: Promise<void> | undefined;
}

/**
 * The rules of every project that is asked for, kept in memory and brought up to date by what changed: a read costs the number of
 * changes, not the number of rules.
 */
export class RuleDirectory {
  private readonly held = new Map<string, Held>();

  constructor(private readonly options: DirectoryOptions) {}

  /** Rules as new as `freshForMs` allows. Whoever asks while they are being read waits for that read. */
  async of(project: string): Promise<ProjectRules> {
    const held = this.heldOf(project);
    const needed = performance.now() - this.options.freshForMs;
    while (held.readFrom < Math.max(needed, held.staleSince)) {
      held.reading ??= this.bring(held, project, this.options.read).finally(() => {
        held.reading = undefined;
      });
      await held.reading;
    }
    return held.rules;
  }

  /** Inside a transaction that holds the project's lock on rules: what is given then is all there is. */
  async within(project: string, read: Read): Promise<ProjectRules> {
    const held = this.heldOf(project);
    await this.bring(held, project, read);
    return held.rules;
  }

  /** There is a newer version: the next one who asks reads it. */
  markStale(project: string): void {
    const held = this.held.get(project);
    if (held !== undefined) held.staleSince = performance.now();
  }

  private heldOf(project: string): Held {
    const known = this.held.get(project);
    if (known !== undefined) return known;
    const fresh: Held = { rules: new ProjectRules(), readFrom: -Infinity, staleSince: -Infinity, reading: undefined };
    this.held.set(project, fresh);
    return fresh;
  }

  private async bring(held: Held, project: string, read: Read): Promise<void> {
    const began = performance.now();
    const [row] = await read<{ version: number }>('SELECT version FROM rules.versions WHERE project = $1', [project]);
    const version = row?.version ?? 0;
    const known = held.rules.version;
    if (version > known) {
      // Later changes than `version` may be among them; they are applied once more by the next read, which does no harm.
      const rules = await read<RuleRow>(
        `SELECT ${RULE_COLUMNS} FROM rules.rules WHERE project = $1 AND seq > $2 AND seq <= $3 ORDER BY seq, id`,
        [project, known, version],
      );
      const descriptions = await read<{ scope: string; description: string }>(
        'SELECT scope, description FROM rules.scopes WHERE project = $1 AND seq > $2',
        [project, known],
      );
      held.rules.apply({ version, rules: rules.map(storedRule), descriptions });
    }
    held.readFrom = began;
  }
}
