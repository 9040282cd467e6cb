import { z } from 'zod';
import { regressionReport, regressionRun, regressionsQuery, startRegression, trialView } from '#contracts';
import { ok, pageOf } from './answers.js';
import { defineRoute } from './route.js';

const idPath = z.object({ id: z.string().min(1).max(64) });
const notFound = { status: 404, description: 'There is none with this id.' };

/** Trials of rules, and regression runs. */
export const validationRoutes = {
  readTrial: defineRoute({
    id: 'readTrial',
    method: 'GET',
    path: '/v1/candidates/:id/trial',
    summary: 'The trial of a rule as it stands: evidence, arms, effect, what it still needs, and its course.',
    access: ['observe'],
    params: idPath,
    answers: [ok({ name: 'Trial', schema: trialView }, 'The trial.'), notFound],
  }),
  startRegression: defineRoute({
    id: 'startRegression',
    method: 'POST',
    path: '/v1/regressions',
    summary:
      'Runs the eval set against the rules as they are: wins first, then failures, newest first. A replay worker has to be connected.',
    access: ['operate'],
    body: { name: 'StartRegression', schema: startRegression, optional: true },
    answers: [
      ok({ name: 'RegressionRun', schema: regressionRun }, 'Begun.', 202),
      { status: 409, description: 'The eval set has no case that can be replayed.' },
    ],
  }),
  listRegressions: defineRoute({
    id: 'listRegressions',
    method: 'GET',
    path: '/v1/regressions',
    summary: 'Regression runs, newest first.',
    access: ['observe'],
    query: regressionsQuery,
    answers: [ok(pageOf('RegressionRun', regressionRun), 'A page of runs.')],
  }),
  readRegression: defineRoute({
    id: 'readRegression',
    method: 'GET',
    path: '/v1/regressions/:id',
    summary: 'A regression run with its cases.',
    access: ['observe'],
    params: idPath,
    answers: [ok({ name: 'RegressionReport', schema: regressionReport }, 'The run so far.'), notFound],
  }),
};
