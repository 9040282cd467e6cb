import { InfrastructureError } from '#messaging';

interface Source<Value> {
  of(project: string): Promise<Value>;
}

/**
 * What was last known of a project, while the database is away: nobody can change rules or settings then either, and agents that read
 * need not suffer from it.
 */
export class LastKnown<Value> {
  private readonly known = new Map<string, Value>();

  constructor(private readonly source: Source<Value>) {}

  /** @throws InfrastructureError when nothing is known */
  async of(project: string): Promise<Value> {
    try {
      const value = await this.source.of(project);
      this.known.set(project, value);
      return value;
    } catch (error) {
      const known = this.known.get(project);
      if (known === undefined || !(error instanceof InfrastructureError)) throw error;
      return known;
    }
  }
}
