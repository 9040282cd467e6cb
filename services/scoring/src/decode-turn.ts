import { bodyReference, type Turn } from '#contracts';
import { normaliseTurn, parseJson, stringifyTurn } from '#ingest';
import type { Decoded } from '#messaging';
import type { TurnPayload } from './accepted-turn.js';

/** Reads `turn.ended`, whoever published it: agents may publish there themselves, so everything is checked and redacted here too. */
export function decodeTurn(data: Uint8Array): Decoded<TurnPayload> {
  try {
    const { value, notes } = parseJson(data);
    const reference = bodyReference.safeParse(value);
    if (reference.success) return { ok: true, payload: reference.data, notes };
    return normalised(value, notes);
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
