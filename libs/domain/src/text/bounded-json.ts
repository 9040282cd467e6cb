import { canonicalJson } from './canonical-json.js';
import { firstCodePoints } from './code-points.js';
import { isSensitiveKey } from './sensitive-key.js';

/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

/** Items kept of a list in a task descriptor, which goes into a prompt. */
const DESCRIPTOR_ITEMS = 50;
/** Items kept of a list in evidence, which is stored. */
const EVIDENCE_ITEMS = 100;

/**
 * Bounds a JSON value that is kept as evidence: lists cut to 100 items, values of sensitive keys redacted.
 * Over `maxLength` code points of canonical JSON the whole becomes `{summary: the first maxLength of them}`; 0 or less means no cap.
 */
export function boundEvidence(value: unknown, maxLength: number): unknown {
  return bound(value, EVIDENCE_ITEMS, maxLength);
}

/** The same for a task descriptor that a repair model reads: lists cut to 50 items. */
export function boundTaskDescriptor(value: unknown, maxLength: number): unknown {
  return bound(value, DESCRIPTOR_ITEMS, maxLength);
}

function bound(value: unknown, maxItems: number, maxLength: number): unknown {
  const safe = trim(value, maxItems);
  if (maxLength <= 0) return safe;
  // Canonical JSON is ASCII, so its length is its number of code points.
  const text = canonicalJson(safe);
  return text.length <= maxLength ? safe : { summary: firstCodePoints(text, maxLength) };
}

function trim(value: unknown, maxItems: number): unknown {
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => trim(item, maxItems));
  if (typeof value !== 'object' || value === null) return value;
  // fromEntries defines own properties, so a `__proto__` key stays data.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, isSensitiveKey(key) ? REDACTED : trim(member, maxItems)]),
  );
}
