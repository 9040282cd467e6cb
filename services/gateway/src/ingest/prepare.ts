import { scorePosted, turnEnded, type Problem } from '#contracts';
import { redactSecrets, storable } from '#domain/text';
import { cutToFit, normaliseTurn, stringifyJson, writtenTurn } from '#ingest';
import { problemOf, type FieldProblem } from '../http/problem.js';
import { describe } from '../http/route.js';
import { advise } from './field-advice.js';

/** One item of a request, ready to be published or refused. */
export type Prepared = {
  readonly index: number;
  readonly session: string | null;
  readonly turn: number | null;
  readonly notes: readonly string[];
} & ({ readonly ok: true; readonly data: Buffer } | { readonly ok: false; readonly error: Problem });

/** How one item of a request becomes an event, and which event. */
export interface ItemKind {
  readonly event: { readonly type: string; subject(project: string): string };
  readonly prepare: (item: unknown, index: number) => Prepared;
  /** Whether a large one may be stored beside the event. */
  readonly spills: boolean;
}

const MIB = 1024 * 1024;
/** Beyond this a turn is cut by the digest rule: nobody reads more, and Postgres would store it for every reader. */
const MAX_TURN_BYTES = 16 * MIB;

export const turnItems: ItemKind = { event: turnEnded, prepare: prepareTurn, spills: true };
export const scoreItems: ItemKind = { event: scorePosted, prepare: prepareScores, spills: false };

function prepareTurn(item: unknown, index: number): Prepared {
  const normalised = normaliseTurn(item);
  if (!normalised.ok) return rejected(item, index, normalised.errors);
  const { session_id: session, turn_index: turn } = normalised.turn;
  const known = { index, session, turn };
  const fitted = cutToFit(writtenTurn(normalised.turn), MAX_TURN_BYTES);
  if (!fitted.fits) {
    const detail = `The ids, names and times alone take more than ${MAX_TURN_BYTES / MIB} MiB: end the turn earlier, or send fewer spans.`;
    return { ...known, notes: [], ok: false, error: problemOf('too-large', 413, detail) };
  }
  const notes =
    fitted.cut > 0
      ? [...normalised.notes, `larger than ${MAX_TURN_BYTES / MIB} MiB: ${fitted.cut} long texts were cut`]
      : normalised.notes;
  return { ...known, notes, ok: true, data: Buffer.from(stringifyJson(fitted.value)) };
}

function prepareScores(item: unknown, index: number): Prepared {
  const { value, notes } = storable(item);
  const parsed = scorePosted.schema.safeParse(redactSecrets(value));
  if (!parsed.success) {
    return rejected(
      item,
      index,
      parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })),
    );
  }
  const { session_id: session, turn_index: turn } = parsed.data;
  return { index, session, turn, notes, ok: true, data: Buffer.from(stringifyJson(parsed.data)) };
}

const SHOWN_ID = 255;

function rejected(item: unknown, index: number, errors: readonly FieldProblem[]): Prepared {
  const advised = errors.map(advise);
  const { session_id: session, turn_index: turn } = (item ?? {}) as { session_id?: unknown; turn_index?: unknown };
  return {
    index,
    session: typeof session === 'string' ? String(storable(session.slice(0, SHOWN_ID)).value) : null,
    turn: Number.isSafeInteger(turn) ? (turn as number) : null,
    notes: [],
    ok: false,
    error: problemOf('invalid-turn', 422, describe(advised), advised),
  };
}
