import type { FinalState } from '#checker';
import type { TurnInput } from '#recordings';
import { modelServer, type ModelRequest, type ModelServer } from '#testing';
import { GatewayProcess } from '../support/gateway.js';
import { hashedJudge } from '../support/hashed-judge.js';
import { Loop, serviceEnv, type LoopOptions } from '../support/loop.js';
import { ownNats, ownPostgres, type OwnServer } from '../support/own-servers.js';
import type { ServiceProcess } from '../support/service-process.js';

export const ACK_WAIT_MS = 2_000;
const MINUTE = 60_000;

/** A whole loop on servers of its own, all of which may be killed. */
export class World {
  private constructor(
    readonly nats: OwnServer,
    readonly postgres: OwnServer,
    readonly loop: Loop,
    readonly gateway: GatewayProcess | undefined,
    /** Undefined: everything is checked by code. */
    readonly model: ModelServer | undefined,
  ) {}

  /** `judged`: a model judges task completion and what tier 2 asks. */
  static async start({ judged = false }: { judged?: boolean } = {}): Promise<World> {
    const [nats, postgres] = await Promise.all([ownNats(), ownPostgres()]);
    const model = judged ? await modelServer(hashedJudge) : undefined;
    const options: LoopOptions = {
      natsUrl: nats.url,
      databaseUrl: postgres.url,
      ackWaitMs: ACK_WAIT_MS,
      copies: 2,
      settings: { circuit_breaker_max_notices: 0 },
      env: model === undefined ? {} : { FLEETMEND_JUDGE_MODEL: 'hashed-judge', FLEETMEND_JUDGE_BASE_URL: model.url },
    };
    const loop = await Loop.open(options);
    const world = new World(nats, postgres, loop, await GatewayProcess.prepare(serviceEnv(options)), model);
    for (const service of world.processes) service.start();
    return world;
  }

  /** How long the loop may take to come to rest: a judged turn takes some ten times the work of a checked one. */
  get quietMs(): number {
    return (this.model === undefined ? 2 : 6) * MINUTE;
  }

  get processes(): ServiceProcess[] {
    return [...this.loop.services, ...(this.gateway === undefined ? [] : [this.gateway.service])];
  }

  /**
   * Kills every scoring process and starts it again with the leases of the dead ones at an end: nothing is skipped but the
   * minute that a lease outlives its holder.
   */
  async endLeases(): Promise<void> {
    const scoring = this.loop.services.filter(({ name }) => name === 'scoring');
    await Promise.all(scoring.map((service) => service.kill()));
    await this.loop.db.query('UPDATE scoring.score_jobs SET leased_until = now() WHERE leased_until > now()');
    for (const service of scoring) service.start();
  }

  async createProject(project: string): Promise<void> {
    await this.loop.createProject(project);
    await this.gateway?.admit(this.loop.db, project);
  }

  /** One import with nobody disturbing it: what every other must come to. */
  async clean(project: string, turns: readonly TurnInput[]): Promise<FinalState> {
    // A long soak must not keep every request of every round.
    (this.model?.requests as ModelRequest[] | undefined)?.splice(0);
    await this.createProject(project);
    await this.loop.publish(project, turns);
    await this.loop.quiet(this.quietMs);
    return this.loop.state(project);
  }

  async close(): Promise<void> {
    await this.gateway?.service.kill();
    await this.loop.close();
    await Promise.all([this.nats.drop(), this.postgres.drop(), this.model?.close()]);
  }
}
