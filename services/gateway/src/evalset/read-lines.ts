import { evalCaseLine, MAX_IMPORT_LINES } from '#contracts';
import { storable } from '#domain/text';
import { JsonSyntaxError, parseJson } from '#ingest';
import { invalidRequest } from '../http/problem.js';
import type { KeptCase } from '../postgres/eval-set-changes.js';
import { inputProblem, keptInput, keptNotes } from './kept-text.js';

/** A line of an import, numbered from 1: a case, or why it is none. */
export type ReadLine =
  { readonly line: number; readonly kept: KeptCase } | { readonly line: number; readonly kept: null; readonly error: string };

const NEWLINE = 0x0a;

/** Reads JSON Lines; blank ones are passed over. @throws ProblemError 422 when there are too many */
export function readLines(body: Uint8Array): ReadLine[] {
  const read: ReadLine[] = [];
  let line = 0;
  for (let from = 0; from < body.length;) {
    const end = body.indexOf(NEWLINE, from);
    const bytes = body.subarray(from, end < 0 ? body.length : end);
    from += bytes.length + 1;
    line += 1;
    if (bytes.every((byte) => byte <= 0x20)) continue;
    if (read.length === MAX_IMPORT_LINES)
      throw invalidRequest(
        `There are more than ${MAX_IMPORT_LINES} lines: send them in parts, as \`fleetmend evalset import\` does.`,
      );
    read.push(readLine(line, bytes));
  }
  return read;
}

function readLine(line: number, bytes: Uint8Array): ReadLine {
  try {
    const parsed = evalCaseLine.safeParse(storable(parseJson(bytes).value).value);
    if (!parsed.success) return { line, kept: null, error: parsed.error.issues.map(issueText).join('; ') };
    const { session_id: session, kind, signature, baseline, replay_input: input, notes } = parsed.data;
    const problem = inputProblem(input);
    if (problem !== undefined) return { line, kept: null, error: `${problem.path}: ${problem.message}` };
    return {
      line,
      kept: { session, kind, signature, baseline, replayInput: keptInput(input ?? null), notes: keptNotes(notes) },
    };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { line, kept: null, error: error.message };
  }
}

const issueText = ({ path, message }: { readonly path: PropertyKey[]; readonly message: string }): string =>
  path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
