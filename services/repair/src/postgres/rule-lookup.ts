import { Injectable } from '@nestjs/common';
import type { RuleStatus } from '#domain/rules';
import { UnitOfWork } from '#persistence';

export interface KnownRule {
  readonly status: RuleStatus;
  readonly withdrawn: boolean;
}

/** One rule of a project as it is now. */
@Injectable()
export class RuleLookup {
  constructor(private readonly work: UnitOfWork) {}

  async find(project: string, id: string): Promise<KnownRule | null> {
    const [row] = await this.work.read<KnownRule>(
      'SELECT status, withdrawn_at IS NOT NULL AS withdrawn FROM rules.rules WHERE project = $1 AND id = $2',
      [project, id],
    );
    return row ?? null;
  }
}
