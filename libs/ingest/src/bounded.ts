import { cutText, SMALLEST_CUT } from './cut-text.js';
import { jsonBytes, jsonStringBytes } from './json-size.js';
import { stringifyJson } from './json.js';
import { changeFields, changeStrings } from './turn-fields.js';

/** A turn that was made to fit. */
export interface CutTurn {
  readonly value: unknown;
  /** How many texts or fields were cut; 0 when the value came back as it was. */
  readonly cut: number;
  /** False when the skeleton alone (ids, names, times, catalogue) is larger than the limit. */
  readonly fits: boolean;
}

/** Below this a cut text says nothing any more, so whole fields are cut instead. */
const SMALLEST_USEFUL_TEXT = 256;

/**
 * The digest rule for oversize turns. When the turn's compact JSON exceeds `maxBytes` (UTF-8), the longest texts under
 * `input`, `output`, `metadata`, `error` and `end_state` of the turn, its traces and spans are cut to one common length, the
 * largest that fits (head and tail kept, marked `…[cut N characters]…`, well-formed). When that is not enough because there
 * are too many small parts, whole fields are cut as JSON text. The skeleton of spans stays. Deterministic.
 * Expects nesting of a few hundred levels at most (`parseJson` refuses more).
 */
export function cutToFit(turn: unknown, maxBytes: number): CutTurn {
  const bytes = jsonBytes(turn);
  if (bytes <= maxBytes) return { value: turn, cut: 0, fits: true };
  const texts = cutTexts(turn, bytes, maxBytes);
  if (texts.fits) return texts;
  const fields = cutFields(texts.value, maxBytes);
  return { ...fields, cut: texts.cut + fields.cut };
}

function cutTexts(turn: unknown, bytes: number, maxBytes: number): CutTurn {
  const sizes: number[] = [];
  changeFields(turn, (field) =>
    changeStrings(field, (text) => {
      sizes.push(jsonStringBytes(text));
      return text;
    }),
  );
  const level = Math.max(SMALLEST_USEFUL_TEXT, commonLevel(sizes, bytes - maxBytes));
  const { value, cut } = counting((count) =>
    changeFields(turn, (field) => changeStrings(field, (text) => count(text, cutText(text, level)))),
  );
  return { value, cut, fits: jsonBytes(value) <= maxBytes };
}

function cutFields(turn: unknown, maxBytes: number): CutTurn {
  const sizes: number[] = [];
  changeFields(turn, (field) => {
    sizes.push(jsonBytes(field));
    return field;
  });
  const level = Math.max(SMALLEST_CUT, commonLevel(sizes, jsonBytes(turn) - maxBytes));
  const { value, cut } = counting((count) => changeFields(turn, (field) => count(field, cutField(field, level))));
  return { value, cut, fits: jsonBytes(value) <= maxBytes };
}

function cutField(field: unknown, level: number): unknown {
  if (typeof field === 'string') return cutText(field, level);
  return jsonBytes(field) <= level ? field : cutText(stringifyJson(field), level);
}

/** The largest size to which everything larger must shrink so that `excess` bytes are saved in all; 0 when nothing suffices. */
function commonLevel(sizes: readonly number[], excess: number): number {
  const descending = sizes.toSorted((a, b) => b - a);
  let total = 0;
  for (const [index, size] of descending.entries()) {
    total += size;
    const count = index + 1;
    // With the `count` largest cut to one level, that level saves total - count x level.
    const level = Math.floor((total - excess) / count);
    if (level >= (descending[count] ?? 0)) return level;
  }
  return 0;
}

type Count = <T>(before: T, after: T) => T;

function counting(run: (count: Count) => unknown): { value: unknown; cut: number } {
  let cut = 0;
  const value = run((before, after) => {
    if (after !== before) cut += 1;
    return after;
  });
  return { value, cut };
}
