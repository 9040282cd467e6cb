export type ReadJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parseJson(text: string): ReadJson {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : 'not JSON' };
  }
}

/**
 * Reads the JSON in a model's answer: the text as it is (without a byte order mark and blanks around it); else what one outer
 * code fence holds; else the only complete object in it. The order matters: a fence inside a reason must not be unwrapped.
 * Two objects are ambiguous and one that never closes is cut off: neither is guessed at. Linear in the text's length.
 */
export function readJson(answer: string): ReadJson {
  const text = withoutThinking(answer.trim());
  if (text === '') return { ok: false, error: 'the answer is empty' };
  const whole = parseJson(text);
  if (whole.ok) return whole;
  const fenced = insideFence(text);
  const inner = fenced === undefined ? whole : parseJson(fenced);
  return inner.ok ? inner : onlyObject(text);
}

/** Open reasoning models write their thoughts, which may hold drafts of the answer, in front of it. */
function withoutThinking(text: string): string {
  const end = text.startsWith('<think>') ? text.indexOf('</think>') : -1;
  return end < 0 ? text : text.slice(end + '</think>'.length).trim();
}

/** From the first line that opens a fence to the last that closes one. */
function insideFence(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const from = lines.findIndex((line) => line.startsWith('```'));
  const to = lines.lastIndexOf('```');
  return from < 0 || to <= from ? undefined : lines.slice(from + 1, to).join('\n');
}

function onlyObject(text: string): ReadJson {
  let found: ReadJson | undefined;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at)) {
    const end = endOfObject(text, at);
    // What lies inside an object that is cut off is a part of the answer, not the answer.
    if (end < 0) return { ok: false, error: 'the JSON object in the answer is cut off' };
    const read = parseJson(text.slice(at, end));
    if (read.ok && found !== undefined) return { ok: false, error: 'the answer holds more than one JSON object' };
    if (read.ok) found = read;
    at = end;
  }
  return found ?? { ok: false, error: 'the answer holds no JSON object' };
}

/** Position after the object that begins at `from`, by counting braces outside strings; -1 when it never closes. */
export function endOfObject(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth += 1;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return -1;
}
