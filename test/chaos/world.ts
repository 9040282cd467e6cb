import type { FinalState } from '#checker';
import type { TurnInput } from '#recordings';
import { GatewayProcess } from '../support/gateway.js';
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
  ) {}

  static async start(): Promise<World> {
    const [nats, postgres] = await Promise.all([ownNats(), ownPostgres()]);
    const options: LoopOptions = {
      natsUrl: nats.url,
      databaseUrl: postgres.url,
      ackWaitMs: ACK_WAIT_MS,
      copies: 2,
      settings: { circuit_breaker_max_notices: 0 },
    };
    const loop = await Loop.open(options);
    const world = new World(nats, postgres, loop, await GatewayProcess.prepare(serviceEnv(options)));
    for (const service of world.processes) service.start();
    return world;
  }

  get processes(): ServiceProcess[] {
    return [...this.loop.services, ...(this.gateway === undefined ? [] : [this.gateway.service])];
  }

  async createProject(project: string): Promise<void> {
    await this.loop.createProject(project);
    await this.gateway?.admit(this.loop.db, project);
  }

  /** One import with nobody disturbing it: what every other must come to. */
  async clean(project: string, turns: readonly TurnInput[]): Promise<FinalState> {
    await this.createProject(project);
    await this.loop.publish(project, turns);
    await this.loop.quiet(2 * MINUTE);
    return this.loop.state(project);
  }

  async close(): Promise<void> {
    await this.gateway?.service.kill();
    await this.loop.close();
    await Promise.all([this.nats.drop(), this.postgres.drop()]);
  }
}
