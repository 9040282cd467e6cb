import { sessionIdText } from '#contracts';
import { storable } from '#domain/text';

/** Who reads rules, as the transport says it. Both null: somebody without a session. */
export interface ReadingSession {
  readonly session: string | null;
  readonly turn: number | null;
}

export type ReadSession =
  | { readonly ok: true; readonly reading: ReadingSession }
  | { readonly ok: false; readonly path: 'session' | 'turn'; readonly error: string };

const TURN = /^\d{1,15}$/;

/** A session id as a turn has it, made storable in the same way, and the index of its turn; empty is the same as not given. */
export function readingSession(session: string | undefined, turn: string | undefined): ReadSession {
  const named = storable(session ?? '').value as string;
  if (named !== '' && !sessionIdText.safeParse(named).success)
    return { ok: false, path: 'session', error: 'a session id has 255 characters at most' };
  const index = turn?.trim() ?? '';
  if (index !== '' && !TURN.test(index)) return { ok: false, path: 'turn', error: 'a turn is a whole number from 0' };
  return { ok: true, reading: { session: named === '' ? null : named, turn: index === '' ? null : Number(index) } };
}

/** HTTP hands headers over as Latin-1; a session id in them is UTF-8 where its bytes are. */
export function headerText(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined || !/[\x80-\xff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}
