import { bodyReference, replayTurn, type Turn } from '#contracts';
import { replayOfSession, replaySession } from '#domain/ids';
import { normaliseTurn, parseJson, stringifyTurn } from '#ingest';
import type { Decoded } from '#messaging';
import type { TurnPayload } from './accepted-turn.js';

/** Reads `turn.ended`, whoever published it: agents may publish there themselves, so everything is checked and redacted here too. */
export function decodeTurn(data: Uint8Array): Decoded<TurnPayload> {
  try {
    const { value, notes } = parseJson(data);
    const reference = bodyReference.safeParse(value);
    if (reference.success) return { ok: true, payload: reference.data, notes };
    const decoded = normalised(value, notes);
    if (decoded.ok && replayOfSession(decoded.payload.turn.session_id) !== null) return { ok: false, reason: RESERVED };
    return decoded;
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

const RESERVED = 'session_id: this name is given out for replays; publish the turns of a replay as replay.turn';

export interface ReplayTurnPayload {
  readonly turn: Turn;
  readonly body: Buffer;
  readonly replay_id: string;
}

/** Reads `replay.turn`. Its session is the one that was given out for the replay, and no other. */
export function decodeReplayTurn(data: Uint8Array): Decoded<ReplayTurnPayload> {
  try {
    const { value, notes } = parseJson(data);
    const named = replayTurn.schema.pick({ replay_id: true }).safeParse(value);
    if (!named.success) return { ok: false, reason: 'replay_id: name the replay that this turn is of' };
    const { replay_id: replay } = named.data;
    const decoded = normalised(value, notes);
    if (!decoded.ok) return decoded;
    if (decoded.payload.turn.session_id !== replaySession(replay))
      return { ok: false, reason: `session_id: a turn of the replay ${replay} runs as ${replaySession(replay)}` };
    return { ...decoded, payload: { ...decoded.payload, replay_id: replay } };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

function normalised(value: unknown, notes: readonly string[]): Decoded<{ turn: Turn; body: Buffer }> {
  const result = normaliseTurn(value);
  if (!result.ok)
    return {
      ok: false,
      reason: result.errors
        .slice(0, 5)
        .map(({ path, message }) => `${path}: ${message}`)
        .join('; '),
    };
  return {
    ok: true,
    payload: { turn: result.turn, body: Buffer.from(stringifyTurn(result.turn)) },
    notes: [...notes, ...result.notes],
  };
}

/** Reads a body that was stored by the gateway. */
export function readBody(body: Buffer): Turn {
  const result = normaliseTurn(parseJson(body).value);
  if (!result.ok)
    throw new Error(`a stored body does not fit its schema: ${result.errors[0]?.path ?? ''} ${result.errors[0]?.message ?? ''}`);
  return result.turn;
}
