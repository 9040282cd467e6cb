import { z } from 'zod';
import { page, pageQuery, sessionIdText } from './http.js';

export const caseKinds = ['failure', 'win'] as const;

const MAX_SIGNATURES = 50;
const MAX_NOTES = 2_000;
/** Lines of one import request. */
export const MAX_IMPORT_LINES = 1_000;

const micros = z.int();
const version = z.int().describe('Of the set of the project; every change of the set bumps it.');
const signature = z
  .array(z.string().min(1).max(128))
  .max(MAX_SIGNATURES)
  .describe('The problems it stands for, `condition:metric`, in any order.');
const baseline = z.record(z.string(), z.number().min(0).max(1)).describe('Scores when it was captured, by metric.');
const replayInput = z
  .unknown()
  .describe('What a replay worker needs to run it again; null when it cannot be run again, and is a label only.');

export const evalCaseSummary = z.object({
  id: z.string(),
  created_at: micros,
  session_id: z.string(),
  kind: z.enum(caseKinds),
  signature: z.array(z.string()),
  baseline,
  /** It has an input that a replay worker can run again. */
  replayable: z.boolean(),
  notes: z.string(),
  /** The notice that it was captured with; null for one captured by hand. */
  notice_id: z.string().nullable(),
});
export type EvalCaseSummary = z.output<typeof evalCaseSummary>;

export const evalCasesPage = page(evalCaseSummary).extend({ version });
export type EvalCasesPage = z.output<typeof evalCasesPage>;

export const evalCaseDetail = evalCaseSummary.extend({ replay_input: replayInput, version });
export type EvalCaseDetail = z.output<typeof evalCaseDetail>;

export const evalCasesQuery = pageQuery.extend({
  kind: z.enum(caseKinds).optional(),
  signature: z.string().min(1).max(128).optional().describe('Only cases that have this signature among theirs.'),
  replayable: z.enum(['true', 'false']).optional(),
});

export const captureCaseRequest = z.strictObject({
  session_id: sessionIdText,
  turn_index: z.int().min(0),
  kind: z.enum(caseKinds),
  signature: signature.optional().describe('Default: what stands after the turn, by its report.'),
  notes: z.string().max(MAX_NOTES).default(''),
  replay_input: replayInput.optional().describe('Default: the end state of the turn, when it says something.'),
});
export type CaptureCaseRequest = z.output<typeof captureCaseRequest>;

/** `known`: there is one of the same session, signature and kind, and it stays as it is. */
export const capturedCase = z.object({
  result: z.enum(['captured', 'known']),
  case: evalCaseSummary,
  /** Ids of failures that made room for it. */
  evicted: z.array(z.string()),
  version,
});
export type CapturedCase = z.output<typeof capturedCase>;

export const attachInputRequest = z.strictObject({
  replay_input: z.unknown().refine((value) => value !== undefined && value !== null, 'is missing: what should a replay run?'),
  notes: z.string().max(MAX_NOTES).optional().describe('Takes the place of the notes.'),
});
export type AttachInputRequest = z.output<typeof attachInputRequest>;

export const removedCase = z.object({ id: z.string(), version });
export type RemovedCase = z.output<typeof removedCase>;

/** A line of an export, and of an import, which takes no notice of `id` and `created_at`: a set gives its own. */
export const evalCaseLine = z.object({
  id: z.string().optional(),
  created_at: micros.optional(),
  session_id: sessionIdText,
  kind: z.enum(caseKinds),
  signature: signature.default([]),
  baseline: baseline.default({}),
  replay_input: replayInput.optional(),
  notes: z.string().max(MAX_NOTES).default(''),
});
export type EvalCaseLine = z.output<typeof evalCaseLine>;

export const importStatuses = ['captured', 'known', 'refused', 'rejected'] as const;

export const importedCases = z.object({
  version,
  captured: z.int(),
  /** Cases that were there: importing a file twice changes nothing. */
  known: z.int(),
  /** Wins alone fill the set, or there would be more wins than it may hold. */
  refused: z.int(),
  /** Lines that are no case. */
  rejected: z.int(),
  /** Ids of failures that made room. */
  evicted: z.array(z.string()),
  /** Per line that is not blank, numbered from 1. */
  results: z.array(
    z.object({ line: z.int(), status: z.enum(importStatuses), id: z.string().nullable(), error: z.string().nullable() }),
  ),
});
export type ImportedCases = z.output<typeof importedCases>;
