import { z } from 'zod';
import { readiness } from '#contracts';
import { ok, other } from './answers.js';
import { defineRoute } from './route.js';

/** Routes that need no key: is it well, and what is this. */
export const publicRoutes = {
  health: defineRoute({
    id: 'health',
    method: 'GET',
    path: '/healthz',
    summary: 'The process is alive.',
    access: 'public',
    answers: [ok({ name: 'Alive', schema: z.object({ status: z.literal('alive') }) }, 'Alive.')],
  }),
  ready: defineRoute({
    id: 'ready',
    method: 'GET',
    path: '/readyz',
    summary: 'Whether turns can be accepted and read: broker, database, migrations.',
    access: 'public',
    answers: [
      ok({ name: 'Readiness', schema: readiness }, 'Ready, perhaps degraded.'),
      ok({ name: 'Readiness', schema: readiness }, 'Something needed is missing.', 503),
    ],
  }),
  metrics: defineRoute({
    id: 'metrics',
    method: 'GET',
    path: '/metrics',
    summary: 'Prometheus metrics of this process, and the backlog of every consumer.',
    access: 'public',
    answers: [other('text/plain', 'Prometheus text format 0.0.4.')],
  }),
  openapi: defineRoute({
    id: 'openapi',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document.',
    access: 'public',
    answers: [other('application/json', 'OpenAPI 3.1.')],
  }),
  asyncapi: defineRoute({
    id: 'asyncapi',
    method: 'GET',
    path: '/asyncapi.json',
    summary: 'The events on the bus.',
    access: 'public',
    answers: [other('application/json', 'AsyncAPI 3.')],
  }),
  home: defineRoute({
    id: 'home',
    method: 'GET',
    path: '/',
    summary: 'What this is and where things are, for people.',
    access: 'public',
    answers: [other('text/html', 'A page.')],
  }),
} as const;
