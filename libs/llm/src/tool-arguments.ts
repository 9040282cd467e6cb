import { endOfObject, isRecord, parseJson } from './json-text.js';
import type { ToolArguments } from './requests.js';

/** How much of unreadable arguments is quoted back to the model. */
const QUOTED = 200;

/**
 * Reads a tool call's arguments as providers write them: JSON text, that text encoded twice, an object, nothing at all. Quotes
 * and blanks after one complete object are dropped (open models write `{}""`). Two objects, one that is cut off, and anything
 * that is not an object are an error for the model to correct.
 */
export function readToolArguments(written: unknown): ToolArguments {
  if (written === undefined || written === null) return { ok: true, value: {} };
  if (typeof written === 'string') return fromText(written.trim(), true);
  return isRecord(written) ? { ok: true, value: written } : refused('are not an object', JSON.stringify(written));
}

/** What the history holds of a call: valid JSON always, for strict providers refuse the whole conversation otherwise. */
export function writeToolArguments(read: ToolArguments): string {
  return read.ok ? JSON.stringify(read.value) : '{}';
}

function fromText(text: string, mayBeTwiceEncoded: boolean): ToolArguments {
  if (text === '') return { ok: true, value: {} };
  const whole = parseJson(text);
  if (!whole.ok) return fromStart(text);
  if (whole.value === null) return { ok: true, value: {} };
  if (mayBeTwiceEncoded && typeof whole.value === 'string') return fromText(whole.value.trim(), false);
  return isRecord(whole.value) ? { ok: true, value: whole.value } : refused('are not an object', text);
}

function fromStart(text: string): ToolArguments {
  if (!text.startsWith('{')) return refused('are not a JSON object', text);
  const end = endOfObject(text, 0);
  if (end < 0) return refused('are cut off', text);
  const first = parseJson(text.slice(0, end));
  if (!first.ok) return refused(`are not valid JSON (${first.error})`, text);
  if (!/^["'\s]*$/.test(text.slice(end))) return refused('have more text after the first object', text);
  return isRecord(first.value) ? { ok: true, value: first.value } : refused('are not an object', text);
}

function refused(why: string, text: string): ToolArguments {
  return {
    ok: false,
    error: `The arguments ${why}; nothing was executed. Send one JSON object. You sent: ${text.slice(0, QUOTED)}`,
  };
}
