import { rpcSubject } from '../../contracts/src/rpc-subject.js';
import type { VerifyRequest } from '../../contracts/src/rpc.js';
import type { Broker } from './connection.js';
import { respond, type Responder, type ResponderOptions, type Verdict } from './responder.js';

export interface VerifierOptions extends ResponderOptions {
  /** Whether the turn ended as its user wanted, judged by what the host recorded of the end state. */
  verify(turn: VerifyRequest): Verdict | Promise<Verdict>;
}

/**
 * Connects your own verifier: it is asked after every turn, and its verdict becomes the turn's `outcome_correct`. Several copies share
 * the work. Resolves once it listens, which waits for a broker that is not up yet; rejects when the broker refuses it.
 */
export function verifier(options: VerifierOptions & Broker): Promise<Responder> {
  const subject = rpcSubject(options.project, 'verify');
  return respond(options, { name: 'verifier', subject, answer: (turn) => options.verify(turn as VerifyRequest) }, options);
}
