import { isDeepStrictEqual } from 'node:util';
import type { GateConfig, Trajectory } from '#domain/gate';
import type { Findings } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import { storedConfigs, storedTurns, type StoredTurn } from '../stored-turn.js';
import { SessionAlerts, checkAlerts, createWantedTables, type WantedTables } from './alerts.js';
import { SessionRefold } from './refold.js';

interface HeadRow {
  readonly s: string;
  readonly project: string;
  readonly session: string;
  readonly last_t: number;
  readonly state: Trajectory;
  readonly alerting: boolean;
}

const HEADS = 'SELECT s, project, session, last_t, state, alerting FROM gating.heads ORDER BY s';

/** Invariants 3 and 5, in one pass over all turns. */
export async function checkSessions(reader: Reader, findings: Findings): Promise<void> {
  const configs = await storedConfigs(reader);
  const tables = await createWantedTables(reader);
  const heads = reader.rows<HeadRow>(HEADS);
  const turns = new Peekable(storedTurns(reader));
  let sessions = 0;
  for await (const head of heads) {
    await checkSession(head, turns, { findings, configs, tables });
    sessions += 1;
  }
  findings.count('sessions', sessions);
  await checkAlerts(reader, findings, tables);
}

async function checkSession(
  head: HeadRow,
  turns: Peekable<StoredTurn>,
  { findings, configs, tables }: { findings: Findings; configs: ReadonlyMap<string, GateConfig>; tables: WantedTables },
): Promise<void> {
  const refold = new SessionRefold(configs);
  const alerts = new SessionAlerts(configs, tables);
  let newest = -1;
  for (let turn = await turns.peek(); turn?.s === head.s; turn = await turns.next()) {
    refold.add(turn);
    await alerts.add(turn);
    newest = turn.t;
  }
  refold.finish(findings);
  await alerts.finish();
  compareHead(head, { newest, state: refold.head }, findings);
}

function compareHead(head: HeadRow, { newest, state }: { newest: number; state: Trajectory }, findings: Findings): void {
  const name = `${head.project}/${head.session}`;
  if (head.last_t !== newest) findings.add(3, `${name}: expected the newest turn ${newest} in its head, found ${head.last_t}`);
  if (!isDeepStrictEqual(head.state, state))
    findings.add(3, `${name}: expected the head ${JSON.stringify(state)}, found ${JSON.stringify(head.state)}`);
  if (head.alerting !== state.standing.length > 0)
    findings.add(
      3,
      `${name}: expected alerting ${String(state.standing.length > 0)} in its head, found ${String(head.alerting)}`,
    );
}

/** A generator whose next value can be looked at before it is taken. */
class Peekable<T> {
  private held: IteratorResult<T, unknown> | undefined;

  constructor(private readonly source: AsyncGenerator<T, unknown>) {}

  async peek(): Promise<T | undefined> {
    this.held ??= await this.source.next();
    return this.held.done === true ? undefined : this.held.value;
  }

  /** Takes the value that `peek` shows, and looks at the one after it. */
  async next(): Promise<T | undefined> {
    if (this.held?.done !== true) this.held = await this.source.next();
    return this.peek();
  }
}
