import type { TraceSignal } from '#contracts';
import { firstCodePoints } from '../text/index.js';

const QUOTED = /"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”|‘[^’]*’/gu;
const HEX_RUN = /\b(?:0x)?(?=[0-9a-f-]*\d)[0-9a-f]{4,}(?:-[0-9a-f]{4,})*\b/gu;
const DIGIT_RUN = /\d+/gu;
const MAX_LENGTH = 200;

/** Error text with what changes from case to case replaced by `#`, first 200 characters: the same fault reads the same. */
export function normalError(text: string): string {
  const normal = text.toLowerCase().replace(QUOTED, '#').replace(HEX_RUN, '#').replace(DIGIT_RUN, '#');
  return firstCodePoints(normal, MAX_LENGTH);
}

/**
 * What tells two episodes of different sessions to be the same fault: signatures, failing tools, normalised error text.
 * Null when there is neither a failing tool nor an error text: such an episode is its own incident.
 */
export function fingerprint(signatures: readonly string[], signals: readonly TraceSignal[]): string | null {
  const tools = distinct(signals.flatMap((signal) => signal.failing_tools));
  const errors = distinct(
    signals.flatMap((signal) => (signal.error === null || signal.error.trim() === '' ? [] : [normalError(signal.error)])),
  );
  if (tools.length === 0 && errors.length === 0) return null;
  return JSON.stringify([distinct(signatures), tools, errors]);
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
