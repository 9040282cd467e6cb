import type { Turn } from '#contracts';
import { derivedId } from '#domain/ids';
import { jsonBytes, stringifyJson } from '#ingest';
import type { JournalEntry, Transaction } from '#persistence';
import type { AcceptedTurn } from '../accepted-turn.js';
import { awaitsTraces } from '../named-in-turn.js';
import type { TurnConfig } from '../turn-config.js';
import type { AdmissionRules } from '../admission-rules.js';

export interface ConfiguredTurn extends AcceptedTurn {
  readonly configId: string;
  readonly config: TurnConfig;
  readonly traceWaitS: number;
  readonly rules: AdmissionRules;
  readonly acceptHostOutcome: boolean;
  readonly verify: boolean;
  /** Made of a trace by itself (`otlp_turns`); `partial`: its root span never came. Absent: it was sent. */
  readonly ofTrace?: { readonly partial: boolean };
}

interface NamedAgent {
  readonly agent?: { readonly id?: string | null | undefined } | null | undefined;
}

export interface Key {
  readonly s: string;
  readonly t: number;
}

/**
 * The keys of the first parameter as rows `k(s, t)`. A list of JSON is taken for a hundred rows, for which a middling table would be read
 * whole; its limit says how many there are.
 */
export const TURN_KEYS =
  '(SELECT * FROM json_to_recordset($1::json) AS r(s uuid, t bigint) LIMIT json_array_length($1::json)) AS k';

export const keyOf = ({ s, t }: Key): string => `${s}|${t}`;
export const keysJson = (keys: readonly Key[]): string => JSON.stringify(keys.map(({ s, t }) => ({ s, t })));

/** One row per distinct configuration, by its content; written with every batch, since an earlier one may have been rolled back. */
export async function saveConfigs(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
  const rows = [...new Map(turns.map(({ configId, config }) => [configId, config]))].map(([id, doc]) => ({ id, doc }));
  await tx.query(
    'INSERT INTO scoring.configs (id, doc) SELECT id, doc FROM json_to_recordset($1::json) AS r(id text, doc jsonb) ORDER BY id ON CONFLICT DO NOTHING',
    [JSON.stringify(rows)],
  );
}

/** How turns came about: sent, or made of root spans. */
export type Making = 'sent_turns' | 'root_turns';

/**
 * Sessions are made where there are none. Returns those for which it was not known yet that they have turns of this making; what others
 * write beside us is returned too, rather than missed.
 */
export async function saveSessions(
  tx: Transaction,
  turns: readonly { readonly s: string; readonly project: string; readonly turn: Pick<Turn, 'session_id'> & NamedAgent }[],
  making: Making,
): Promise<string[]> {
  const rows = new Map(
    turns.map(({ s, project, turn }) => [s, { s, project, session: turn.session_id, agent: turn.agent?.id ?? null }]),
  );
  const unmarked = await tx.query<{ s: string }>(
    `WITH r AS (SELECT s, project, session, agent FROM json_to_recordset($1::json) AS r(s uuid, project text, session text, agent text)),
       marked AS (SELECT x.s FROM scoring.sessions x JOIN r USING (s) WHERE x.${making}),
       made AS (INSERT INTO scoring.sessions (s, project, session, agent, ${making}) SELECT s, project, session, agent, true FROM r ORDER BY s ON CONFLICT DO NOTHING RETURNING s)
     SELECT s FROM r WHERE NOT EXISTS (SELECT 1 FROM marked WHERE marked.s = r.s) AND NOT EXISTS (SELECT 1 FROM made WHERE made.s = r.s) ORDER BY s`,
    [JSON.stringify([...rows.values()])],
  );
  return unmarked.map(({ s }) => s);
}

/** Sessions have turns of this making now. One that has turns of both is journaled, once. The sessions are locked by the caller. */
export async function markSessions(
  tx: Transaction,
  turns: readonly Pick<ConfiguredTurn, 's' | 't' | 'project' | 'turn'>[],
  unmarked: readonly string[],
  making: Making,
): Promise<void> {
  if (unmarked.length === 0) return;
  const mixed = await tx.query<{ s: string; mixed: boolean }>(
    `UPDATE scoring.sessions SET ${making} = true WHERE s = ANY($1::uuid[]) RETURNING s, sent_turns AND root_turns AS mixed`,
    [unmarked],
  );
  const both = new Set(mixed.flatMap((row) => (row.mixed ? [row.s] : [])));
  for (const { s, t, project, turn } of turns)
    if (both.delete(s)) tx.journal(mixedTurns({ s, t, project, session: turn.session_id }));
}

/** A session whose turns are both sent and made of root spans. */
export function mixedTurns({ s, t, project, session, ...doc }: MixedTurn): JournalEntry {
  return { id: derivedId('mixed_turns', project, s), project, type: 'mixed_turns', s, session, t, doc };
}

interface MixedTurn extends Key {
  readonly project: string;
  readonly session: string;
  readonly trace_id?: string;
}

/** @param open whether tier 1 is answered with the turn, unless it waits for its traces */
export function insertTurns(tx: Transaction, turns: readonly ConfiguredTurn[], open = true): Promise<Key[]> {
  const rows = turns.map(({ s, t, project, acceptedAt, sha, configId, traceWaitS, turn, ofTrace }) => ({
    ...{ s, t, project, accepted_us: acceptedAt, sha, config: configId },
    wait_s: awaitsTraces(turn) ? traceWaitS : null,
    partial: ofTrace?.partial ?? false,
    agent_version: turn.agent?.version ?? null,
    model: turn.agent?.model ?? null,
    end_state: replayInput(turn),
    scope_hints: turn.rule_scope_hints ?? null,
    final: turn.final === true,
  }));
  return tx.query<Key>(
    `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, wait_until, answered_1, partial, agent_version, model, end_state, scope_hints, final)
     SELECT s, t, project, accepted_us, decode(sha, 'hex'), config, now() + make_interval(secs => wait_s), (wait_s IS NULL AND $2)::int, partial, agent_version, model, end_state, scope_hints, final
     FROM json_to_recordset($1::json) AS r(s uuid, t bigint, project text, accepted_us bigint, sha text, config text, wait_s float8, partial boolean, agent_version text, model text, end_state jsonb, scope_hints jsonb, final boolean)
     ORDER BY s, t ON CONFLICT DO NOTHING RETURNING s, t`,
    [stringifyJson(rows), open],
  );
}

const REPLAY_INPUT_BYTES = 64 * 1024;

/** What a replay may start from: the end state when it is of a reasonable size. A larger one is kept with the body only. */
function replayInput({ end_state: state }: Turn): unknown {
  return state !== undefined && jsonBytes(state) <= REPLAY_INPUT_BYTES ? state : null;
}

/** Bytes as one parameter per row: measured three times cheaper than through an array. */
export async function insertBodies(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<void> {
  if (turns.length === 0) return;
  const places = turns.map((_, index) => `($${3 * index + 1}, $${3 * index + 2}, $${3 * index + 3})`).join(', ');
  await tx.query(
    `INSERT INTO scoring.turn_bodies (s, t, body) VALUES ${places}`,
    turns.flatMap(({ s, t, body }) => [s, t, body]),
  );
}

/** A second body with other content: the first stays, and somebody may want to know. Returns those bodies. */
export async function journalConflicts(
  tx: Transaction,
  turns: readonly ConfiguredTurn[],
  inserted: ReadonlySet<string>,
): Promise<ConfiguredTurn[]> {
  const times = new Map<string, number>();
  for (const one of turns) times.set(keyOf(one), (times.get(keyOf(one)) ?? 0) + 1);
  const known = turns.filter((one) => !inserted.has(keyOf(one)) || times.get(keyOf(one)) !== 1);
  if (known.length === 0) return [];
  const stored = await tx.query<Key & { sha: string }>(
    `SELECT s, t, encode(body_sha, 'hex') AS sha FROM scoring.turns JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t)`,
    [keysJson(known)],
  );
  const shas = new Map(stored.map((one) => [keyOf(one), one.sha]));
  const others = known.filter((one) => shas.get(keyOf(one)) !== one.sha);
  for (const { s, t, sha, project, turn } of others)
    tx.journal({
      id: derivedId('turn_conflict', s, t, sha),
      project,
      type: 'turn_conflict',
      s,
      session: turn.session_id,
      t,
      doc: { kept: shas.get(keyOf({ s, t })), refused: sha },
    });
  return others;
}
