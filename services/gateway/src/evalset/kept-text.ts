import { redactSecrets, sanitize } from '#domain/text';
import { jsonBytes } from '#ingest';
import type { FieldProblem } from '../http/problem.js';

const MIB = 1024 * 1024;
/** It travels to a replay worker in one message, together with its tape. */
const MAX_INPUT_BYTES = MIB;

/** Notes as they are stored: shown to people and, with the case, to models. */
export const keptNotes = (notes: string): string => sanitize(redactSecrets(notes) as string);

/** An input as it is stored: without secrets; undefined stays. */
export const keptInput = (input: unknown): unknown => redactSecrets(input);

export function inputProblem(input: unknown): FieldProblem | undefined {
  if (input === undefined || jsonBytes(input) <= MAX_INPUT_BYTES) return undefined;
  return {
    path: 'replay_input',
    message: `is larger than ${MAX_INPUT_BYTES / MIB} MiB: name what is large, rather than hold it`,
  };
}
