import type { TurnInput } from '#recordings';
import { pick, seeded } from './random.js';

const EPOCH = Date.UTC(2026, 0, 1);
const TURN_MS = 60_000;
const TOOLS = [
  {
    name: 'find_order',
    description: 'Finds an order.',
    parameters: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  },
  {
    name: 'refund',
    description: 'Refunds an order.',
    parameters: { type: 'object', properties: { cents: { type: 'integer' } } },
  },
];
const ERRORS = ['Error: order 4711 not found', 'Error: upstream timed out after 3000 ms', 'Error: "refund" refused'];

/** How the sessions of a fleet go: what their progress is, turn by turn (0 to 1), and how often their tools fail. */
interface Course {
  readonly progress: (turn: number, random: () => number) => number;
  readonly failing: number;
}

const COURSES: Readonly<Record<string, Course>> = {
  healthy: { progress: (turn) => Math.min(1, 0.6 + 0.05 * turn), failing: 0 },
  stalled: { progress: (turn) => 0.2 + 0.001 * turn, failing: 0.5 },
  regressing: { progress: (turn) => (turn < 4 ? 0.9 : 0.4), failing: 0.3 },
  recovering: { progress: (turn) => (turn >= 3 && turn < 7 ? 0.3 : 0.95), failing: 0.3 },
  stuckThenFine: { progress: (turn) => (turn < 9 ? 0.3 : 0.8), failing: 0.2 },
  erratic: { progress: (_turn, random) => pick(random, [0.1, 0.3, 0.45, 0.6, 0.8, 0.95]), failing: 0.4 },
};

export interface FleetOptions {
  readonly seed: number;
  readonly sessions: number;
  readonly turns: number;
}

/**
 * A fleet of sessions with planted stalls, regressions, recoveries and failing tools; the same for the same seed. Turns come
 * session by session, in order.
 */
export function fleet({ seed, sessions, turns }: FleetOptions): TurnInput[] {
  const random = seeded(seed);
  const courses = Object.entries(COURSES);
  return Array.from({ length: sessions }, (_, index) => {
    const [name, course] = courses[index % courses.length] as [string, Course];
    return session(`${name}-${index}`, course, turns, random);
  }).flat();
}

function session(id: string, course: Course, turns: number, random: () => number): TurnInput[] {
  return Array.from({ length: turns }, (_, turn) => toTurn(id, turn, course, random));
}

function toTurn(session: string, turn: number, { progress, failing }: Course, random: () => number): TurnInput {
  const started = EPOCH + turn * TURN_MS;
  const failed = random() < failing;
  const error = pick(random, ERRORS);
  const traceId = `${session}-t${turn}`;
  const value = progress(turn, random);
  // A turn now and then without any trace: it is reported, and says nothing.
  const silent = random() < 0.05;
  return {
    session_id: session,
    turn_index: turn,
    agent: { id: 'fleet', version: '1' },
    started_at: new Date(started).toISOString(),
    status: 'completed',
    end_state: { progress: value, step: turn },
    tools: TOOLS,
    rule_scope_hints: [{ key: 'orders', description: 'Orders and refunds', applicability: 'topical', recommended: true }],
    ...(silent
      ? {}
      : {
          traces: [
            {
              trace_id: traceId,
              name: 'turn',
              started_at: new Date(started).toISOString(),
              ended_at: new Date(started + 30_000).toISOString(),
              input: `Where is my order number ${turn}?`,
              output: `Your order number ${turn} is on its way.`,
              spans: [toolSpan(traceId, { failed, error, started })],
            },
          ],
        }),
  };
}

function toolSpan(traceId: string, { failed, error, started }: { failed: boolean; error: string; started: number }) {
  return {
    span_id: `${traceId}-c0`,
    name: failed ? 'refund' : 'find_order',
    kind: 'TOOL' as const,
    status: failed ? ('ERROR' as const) : ('OK' as const),
    input: failed ? { cents: 'many' } : { id: 1 },
    output: failed ? error : { found: true },
    ...(failed ? { error: { message: error } } : {}),
    started_at: new Date(started + 1_000).toISOString(),
    ended_at: new Date(started + 2_000).toISOString(),
  };
}
