import type { Span, TapeCall, ToolTape, Turn } from '#contracts';
import { errorText, hasFailed, isOutcomeKnown, toolSpans } from '../checks/index.js';
import { canonicalJson } from '../text/index.js';

const MIB = 1024 * 1024;
/** A tape travels in one message, with the replay's input; the broker takes 8 MiB. */
export const TAPE_MAX_BYTES = MIB;

/**
 * The tool calls of a turn, trace by trace, in the order in which they started, with what came of each. A call of which nothing tells
 * how it went cannot be played, and is left out. One that does not fit any more is left out as well, and the tape says `cut`; smaller
 * ones after it are kept, since a tape with one gap plays more than one that ends there.
 */
export function tapeOf(turn: Pick<Turn, 'traces'>, maxBytes = TAPE_MAX_BYTES): ToolTape {
  const recorded = (turn.traces ?? []).flatMap(toolSpans).filter(isOutcomeKnown).map(tapeCall);
  const calls: TapeCall[] = [];
  let room = maxBytes;
  for (const call of recorded) {
    const size = sizeOf(call);
    if (size > room) continue;
    room -= size;
    calls.push(call);
  }
  return { calls, cut: calls.length < recorded.length };
}

const NO_ERROR_TEXT = 'the recorded call failed';

/** Arguments that were not recorded stay undefined: no call can be told to be the same. */
function tapeCall(span: Span): TapeCall {
  const { name: tool, input, output = null, error } = span;
  const failed = hasFailed(span) ? (errorText(error) ?? errorText(output) ?? NO_ERROR_TEXT) : null;
  return { tool, arguments: input, result: output, error: failed };
}

/** At least as many bytes as it takes as JSON: this form escapes what is not ASCII, so that characters are bytes. */
function sizeOf(call: TapeCall): number {
  return canonicalJson(call).length + 1;
}
