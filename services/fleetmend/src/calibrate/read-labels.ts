import { readFile } from 'node:fs/promises';
import { CommandError, exitCodes } from '../exit-codes.js';

const FORMS = '{"session": true, …}, [{"session_id": "…", "failed": true}, …], or CSV with the columns session_id and failed';
const YES = new Set(['true', 'yes', 'y', '1', 'failed']);
const NO = new Set(['false', 'no', 'n', '0', '']);

/** Whether sessions failed, from a JSON map, a JSON list or CSV. @throws CommandError 3 or 2, naming the file and the place */
export async function readLabels(file: string): Promise<Map<string, boolean>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(exitCodes.notFound, `the labels ${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  try {
    return labelsOf(text);
  } catch (error) {
    throw new CommandError(exitCodes.usage, `the labels ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** A row without a word on `failed` did not fail. @throws Error that says which row is wrong */
export function labelsOf(text: string): Map<string, boolean> {
  const clean = text.replace(/^\ufeff/, '').trim();
  const rows = /^[[{]/.test(clean) ? jsonRows(clean) : csvRows(clean);
  const labels = new Map<string, boolean>();
  for (const { session, failed, place } of rows) {
    if (typeof session !== 'string' || session === '') throw new Error(`${place}: session_id is missing; expected ${FORMS}`);
    const label = asFailed(failed, place);
    if ((labels.get(session) ?? label) !== label) throw new Error(`${place}: "${session}" is labelled twice, and differently`);
    labels.set(session, label);
  }
  return labels;
}

interface Row {
  readonly session: unknown;
  readonly failed: unknown;
  readonly place: string;
}

function asFailed(value: unknown, place: string): boolean {
  if (value === undefined || value === null) return false;
  const word = JSON.stringify(value).replace(/^"|"$/g, '').trim().toLowerCase();
  if (YES.has(word)) return true;
  if (NO.has(word)) return false;
  throw new Error(`${place}: failed is ${JSON.stringify(value)}, neither true nor false`);
}

function jsonRows(text: string): Row[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`no JSON (${(error as Error).message}); expected ${FORMS}`, { cause: error });
  }
  if (!Array.isArray(value))
    return Object.entries(value as object).map(([session, failed]) => ({
      session,
      failed: failed as unknown,
      place: `"${session}"`,
    }));
  return value.map((item: unknown, at) => {
    const { session_id: session, failed } = (item ?? {}) as Record<string, unknown>;
    return { session, failed, place: `item ${at}` };
  });
}

function csvRows(text: string): Row[] {
  const [header = [], ...rows] = csv(text);
  const names = header.map((name) => name.trim().toLowerCase());
  const [session, failed] = [names.indexOf('session_id'), names.indexOf('failed')];
  if (session < 0 || failed < 0) throw new Error(`the first line does not name session_id and failed; expected ${FORMS}`);
  return rows
    .filter((row) => row.some((cell) => cell.trim() !== ''))
    .map((row, at) => ({ session: row[session]?.trim(), failed: row[failed], place: `row ${at + 2}` }));
}

/** A quoted or plain cell, and what ends it. */
const CELL = /("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/g;

/** RFC 4180: cells in quotes may hold commas, line breaks and doubled quotes. */
function csv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, cell = '', end = ''] of text.replace(/\r\n?/g, '\n').matchAll(CELL)) {
    rows.at(-1)?.push(/^".*"$/s.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === '\n') rows.push([]);
    if (end === '') break;
  }
  return rows;
}
