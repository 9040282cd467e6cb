import type { PairEnd } from '#domain/evidence';
import { derivedId } from '#domain/ids';
import type { Transaction } from '#persistence';
import type { PairRow, PairStore } from '../postgres/pair-store.js';

type Told = Pick<PairRow, 'pair' | 'rule' | 'project' | 'case_id'>;

/** A pair is over: its row and the journal say what it came to. */
export async function endPair(tx: Transaction, pairs: PairStore, pair: Told, end: PairEnd): Promise<void> {
  const reason = end.counted ? null : end.reason;
  await pairs.end(tx, pair.pair, { state: end.counted ? 'counted' : 'inconclusive', reason, deltas: end.deltas });
  const { rule, project, case_id: id } = pair;
  const doc = { pair: pair.pair, case: id, reason, deltas: end.deltas };
  tx.journal({ id: derivedId('replay_pair', pair.pair), project, type: 'replay_pair', rule, doc });
}

/** Its case was removed meanwhile, or has nothing to replay any more. */
export const caseGone: PairEnd = { counted: false, reason: 'replay_inconclusive', deltas: {} };
