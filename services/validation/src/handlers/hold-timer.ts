import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ruleChanged } from '#contracts';
import { derivedId } from '#domain/ids';
import { InfrastructureError } from '#messaging';
import { UnitOfWork, type Transaction } from '#persistence';
import { lockRules, setRulesVersion } from '#rule-store';
import { everySecond, type Repetition } from '#service';

interface Released {
  readonly id: string;
  readonly scope: string;
  readonly episode: string | null;
}

/** Lets candidates go whose time for an objection is over (BEHAVIOUR 9): their trial begins. */
@Injectable()
export class HoldTimer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('holds');
  private repetition: Repetition | undefined;

  constructor(@Inject(UnitOfWork) private readonly work: UnitOfWork) {}

  onApplicationBootstrap(): void {
    this.repetition = everySecond(
      () => this.release(),
      (error) =>
        this.logger[error instanceof InfrastructureError ? 'debug' : 'warn'](
          `holds are looked at again in a second: ${String(error)}`,
        ),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.repetition?.stop();
  }

  /** Any number of processes may do this at once: the rules of a project are locked first, and what is free stays free. */
  async release(): Promise<void> {
    const due = await this.work.read<{ project: string }>(
      `SELECT DISTINCT project FROM rules.rules WHERE status = 'candidate' AND held_until <= now()`,
      [],
    );
    for (const { project } of due) await this.work.run((tx) => releaseOf(tx, project));
  }
}

async function releaseOf(tx: Transaction, project: string): Promise<void> {
  const { next } = await lockRules(tx, project);
  const released = await tx.query<Released>(
    `UPDATE rules.rules SET hold = NULL, held_until = NULL, seq = $2, changed_at = now()
     WHERE project = $1 AND status = 'candidate' AND hold = 'veto' AND held_until <= now() RETURNING id, scope, episode`,
    [project, next],
  );
  if (released.length === 0) return;
  await setRulesVersion(tx, project, next);
  tx.emit({ event: ruleChanged, id: derivedId(ruleChanged.type, project, next), project, payload: { version: next } });
  for (const { id, scope, episode } of released) {
    const type = 'rule_released';
    tx.journal({ id: derivedId(type, id, next), project, type, rule: id, episode, doc: { scope, version: next } });
  }
}
