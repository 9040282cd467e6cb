import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers, type ProjectSettings } from '#contracts';
import { TerminalError, type Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import type { AdmissionRules } from '../admission-rules.js';
import { acceptedTurn, byKey, type AcceptedTurn, type TurnPayload } from '../accepted-turn.js';
import { decodeTurn, readBody } from '../decode-turn.js';
import { Lanes } from '../jobs/lanes.js';
import type { ConfiguredTurn } from '../postgres/turn-rows.js';
import { bodyKey, TurnStore } from '../postgres/turn-store.js';
import { turnConfig, type NamedConfig } from '../turn-config.js';
import { Verifiers } from '../verifiers.js';

@Controller()
export class TurnEndedHandler {
  /** What a project's settings decide, by the settings object itself: a change makes a new object. */
  private readonly configs = new WeakMap<ProjectSettings, NamedConfig & { readonly rules: AdmissionRules }>();

  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly turns: TurnStore,
    private readonly verifiers: Verifiers,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'nudge' | 'dearestValueUsd'>,
  ) {}

  @OnBatch(consumers.scoringTurns, { decode: decodeTurn })
  async handle(@Payload() batch: readonly Delivery<TurnPayload>[]): Promise<void> {
    const made = await this.work.run(async (tx) => {
      const bodies = await this.turns.referencedBodies(tx, batch);
      const accepted = batch.map((delivery) => resolve(delivery, bodies));
      const configured = await Promise.all(accepted.map((one) => this.configure(one)));
      return this.turns.accept(tx, configured.sort(byKey));
    });
    if (made) this.lanes.nudge();
  }

  private async configure(accepted: AcceptedTurn): Promise<ConfiguredTurn> {
    const settings = await this.settings.of(accepted.project);
    let known = this.configs.get(settings);
    if (known === undefined) {
      known = { ...turnConfig(settings), rules: { ...settings, valueUsd: this.lanes.dearestValueUsd(settings) } };
      this.configs.set(settings, known);
    }
    const { id: configId, config, rules } = known;
    const { trace_wait_s: traceWaitS, accept_host_outcome: acceptHostOutcome } = settings;
    const verify = this.verifiers.shouldAsk(accepted.project);
    return { ...accepted, configId, config, traceWaitS, acceptHostOutcome, rules, verify };
  }
}

function resolve(delivery: Delivery<TurnPayload>, bodies: ReadonlyMap<string, Buffer>): AcceptedTurn {
  const { payload } = delivery;
  if ('turn' in payload) return acceptedTurn(delivery, payload.turn, payload.body);
  const { session_id: session, turn_index: index, body_ref: hash } = payload;
  const body = bodies.get(bodyKey(delivery.project, hash));
  if (body === undefined) throw new Error(`the body ${hash} of session ${session} is not stored`);
  const turn = readBody(body);
  if (turn.session_id !== session || turn.turn_index !== index)
    throw new TerminalError(`the stored body ${hash} is of another turn than turn ${index} of session ${session}`);
  return acceptedTurn(delivery, turn, body);
}
