import { z } from 'zod';
import {
  attachInputRequest,
  captureCaseRequest,
  capturedCase,
  evalCaseDetail,
  evalCaseLine,
  evalCasesPage,
  evalCasesQuery,
  importedCases,
  MAX_IMPORT_LINES,
  removedCase,
} from '#contracts';
import { ok, other } from './answers.js';
import { defineRoute } from './route.js';

export const JSON_LINES = 'application/x-ndjson';

const casePath = z.object({ id: z.string().min(1).max(64) });
const unknown = { status: 404, description: 'The project has no such case.' } as const;

/** The eval set: sessions kept as examples. Never for agents: whoever reads it knows what they are examined on. */
export const evalSetRoutes = {
  listCases: defineRoute({
    id: 'listCases',
    method: 'GET',
    path: '/v1/evalset',
    summary: 'Cases of the eval set, newest first, without their inputs, and the version of the set.',
    access: ['operate'],
    query: evalCasesQuery,
    answers: [ok({ name: 'EvalCasesPage', schema: evalCasesPage }, 'A page of cases.')],
  }),
  captureCase: defineRoute({
    id: 'captureCase',
    method: 'POST',
    path: '/v1/evalset',
    summary: 'Keeps a turn as a failure or a win, with the scores of its report; once per session, signature and kind.',
    access: ['operate'],
    body: { name: 'CaptureCase', schema: captureCaseRequest },
    answers: [
      ok({ name: 'CapturedCase', schema: capturedCase }, 'It is in the set; `result` says whether it was before.'),
      { status: 404, description: 'The turn has no report.' },
      { status: 409, description: 'Wins alone fill the set, and wins are never evicted.' },
    ],
  }),
  exportCases: defineRoute({
    id: 'exportCases',
    method: 'GET',
    path: '/v1/evalset/export',
    summary: 'The whole set, oldest first, one case a line. The header Fleetmend-Evalset-Version has its version.',
    access: ['operate'],
    answers: [other(JSON_LINES, 'JSON Lines, as an import takes them.')],
  }),
  importCases: defineRoute({
    id: 'importCases',
    method: 'POST',
    path: '/v1/evalset/import',
    summary: `Takes cases into the set, one a line, at most ${MAX_IMPORT_LINES}. Doing it again changes nothing.`,
    access: ['operate'],
    body: { name: 'EvalCaseLine', schema: evalCaseLine, raw: true, alsoAs: JSON_LINES },
    answers: [ok({ name: 'ImportedCases', schema: importedCases }, 'What became of every line.')],
  }),
  readCase: defineRoute({
    id: 'readCase',
    method: 'GET',
    path: '/v1/evalset/:id',
    summary: 'One case with its input.',
    access: ['operate'],
    params: casePath,
    answers: [ok({ name: 'EvalCaseDetail', schema: evalCaseDetail }, 'The case.'), unknown],
  }),
  removeCase: defineRoute({
    id: 'removeCase',
    method: 'DELETE',
    path: '/v1/evalset/:id',
    summary: 'Takes a case out of the set.',
    access: ['operate'],
    params: casePath,
    answers: [ok({ name: 'RemovedCase', schema: removedCase }, 'It is gone.'), unknown],
  }),
  attachInput: defineRoute({
    id: 'attachInput',
    method: 'POST',
    path: '/v1/evalset/:id/input',
    summary: 'Gives a case the input that makes it replayable, in place of the one it has.',
    access: ['operate'],
    params: casePath,
    body: { name: 'AttachInput', schema: attachInputRequest },
    answers: [ok({ name: 'EvalCaseDetail', schema: evalCaseDetail }, 'The case as it is now.'), unknown],
  }),
} as const;
