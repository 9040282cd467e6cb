import { Logger } from '@nestjs/common';
import type { ModelError } from '#llm';
import type { Health } from '#observability';

/** What this process has found of the repair model, said once while it lasts. */
export class ModelHealth {
  private readonly logger = new Logger('repair');

  constructor(private readonly health: Pick<Health, 'report'>) {}

  answered(): void {
    this.health.report(NAME, null);
  }

  /** The provider declined one text, or a run was too long: that says nothing about others. */
  failed({ kind, message }: ModelError): void {
    if (kind !== 'content' && kind !== 'context_length') this.health.report(NAME, message);
  }

  /** A fault of ours. */
  broken(error: unknown): void {
    this.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

const NAME = 'repair_model';
