import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { consumers } from '#contracts';
import { TerminalError, type Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { acceptedTurn, byKey, type AcceptedTurn, type TurnPayload } from '../accepted-turn.js';
import { decodeTurn, readBody } from '../decode-turn.js';
import { Lanes } from '../jobs/lanes.js';
import { bodyKey, TurnStore } from '../postgres/turn-store.js';
import { TurnSetup } from '../turn-setup.js';

@Controller()
export class TurnEndedHandler {
  constructor(
    private readonly work: UnitOfWork,
    private readonly turns: TurnStore,
    private readonly setup: TurnSetup,
    @Inject(Lanes) private readonly lanes: Pick<Lanes, 'nudge'>,
  ) {}

  @OnBatch(consumers.scoringTurns, { decode: decodeTurn })
  async handle(@Payload() batch: readonly Delivery<TurnPayload>[]): Promise<void> {
    const made = await this.work.run(async (tx) => {
      const bodies = await this.turns.referencedBodies(tx, batch);
      const accepted = batch.map((delivery) => resolve(delivery, bodies));
      const configured = await Promise.all(accepted.map((one) => this.setup.configure(one)));
      return this.turns.accept(tx, configured.sort(byKey));
    });
    if (made) this.lanes.nudge();
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
