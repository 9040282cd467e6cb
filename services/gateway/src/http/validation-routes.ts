import { z } from 'zod';
import {
  pageQuery,
  pendingTrial,
  regressionReport,
  regressionRun,
  regressionsQuery,
  ruleReader,
  ruleWatch,
  startRegression,
  trialView,
  watchesQuery,
} from '#contracts';
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
  listPendingTrials: defineRoute({
    id: 'listPendingTrials',
    method: 'GET',
    path: '/v1/pending-trials',
    summary: 'Candidates on trial that are not decided, with what is under way for each.',
    access: ['observe'],
    query: pageQuery,
    answers: [ok(pageOf('PendingTrial', pendingTrial), 'A page of trials.')],
  }),
  listWatches: defineRoute({
    id: 'listWatches',
    method: 'GET',
    path: '/v1/watches',
    summary: 'Promoted rules under watch, newest first; `verdict=stale` are those that show no effect any more.',
    access: ['observe'],
    query: watchesQuery,
    answers: [ok(pageOf('RuleWatch', ruleWatch), 'A page of watches.')],
  }),
  listReaders: defineRoute({
    id: 'listReaders',
    method: 'GET',
    path: '/v1/rules/inventory/:id/readers',
    summary: 'The sessions that were shown a rule, newest first, with how they stand: what a bad rule has reached.',
    access: ['observe'],
    params: idPath,
    query: pageQuery,
    answers: [ok(pageOf('RuleReader', ruleReader), 'A page of sessions.')],
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
