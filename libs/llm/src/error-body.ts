import { isRecord, parseJson } from './json-text.js';

/** What an endpoint said when it refused, whatever shape its body had. */
export interface ErrorBody {
  readonly text: string;
  /** Codes, types and states, in lower case. */
  readonly codes: readonly string[];
  /** Parameters that it named in a field of its own. */
  readonly params: readonly string[];
  /** google.rpc.RetryInfo: "31s". */
  readonly retryDelays: readonly string[];
}

/** Enough to tell what was wrong; a web page or an echoed request is cut. */
const TEXT_MAX = 2000;

/**
 * Understands `{error: {message, type, code, param}}` (OpenAI and most), `{error: "…"}`, `{message}`, `{detail: "…"}` and
 * `{detail: [{loc, msg}]}` (FastAPI), a list of one of these (Gemini), an inner error (Azure), a provider's own text in
 * metadata (OpenRouter), and plain text. `hide` takes secrets out of the text before it is cut.
 */
export function readErrorBody(body: string, hide: (text: string) => string = (text) => text): ErrorBody {
  const read = parseJson(body);
  const outer = read.ok && Array.isArray(read.value) ? (read.value as unknown[])[0] : read.ok ? read.value : undefined;
  if (!isRecord(outer)) return { text: hide(body).slice(0, TEXT_MAX), codes: [], params: [], retryDelays: [] };
  const error = isRecord(outer['error']) ? outer['error'] : {};
  const records = [outer, error, ...recordsIn(error['innererror'])];
  const details = [...listOf(outer['detail']), ...listOf(error['details'])].filter(isRecord);
  const said = [outer['error'], error['message'], outer['message'], outer['detail'], ...details.map((item) => item['msg'])];
  const raw = isRecord(error['metadata']) ? error['metadata']['raw'] : undefined;
  const text = [...said, raw].filter((part) => typeof part === 'string').join('; ');
  return {
    text: hide(text === '' ? body : text).slice(0, TEXT_MAX),
    codes: records.flatMap((record) => [record['code'], record['type'], record['status']]).flatMap(asCode),
    params: [error['param'], ...details.map((item) => item['loc'])].flatMap(asParam),
    retryDelays: details.map((item) => item['retryDelay']).filter((delay) => typeof delay === 'string'),
  };
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  return isRecord(value) ? [value] : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function asCode(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' ? [value.toLowerCase()] : [];
}

function asParam(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? [value.filter((part) => part !== 'body').join('.')] : [];
}
