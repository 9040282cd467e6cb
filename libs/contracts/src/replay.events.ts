import { z } from 'zod';
import { defineEvent } from './event.js';
import { traceScored } from './scoring.events.js';
import { turnEndedInput } from './turn.js';

/** A call of the captured turn, as a tape plays it back. `error`: it failed then, and fails again. */
export const tapeCall = z.object({
  tool: z.string(),
  /** As recorded: JSON, or text that is none. */
  arguments: z.unknown(),
  result: z.unknown(),
  error: z.string().nullable(),
});
export type TapeCall = z.output<typeof tapeCall>;

/** The tool calls of a captured turn in their order, so that a replay need not touch the world. */
export const toolTape = z.object({
  calls: z.array(tapeCall),
  /** Calls were left out to keep the size within bounds. */ cut: z.boolean(),
});
export type ToolTape = z.output<typeof toolTape>;

const replayId = z.string().min(1).max(64);

export const replayRequested = defineEvent({
  type: 'replay.requested',
  stream: 'FM_REPLAYS',
  summary: 'A case should be run again, under the session id given. Times are microseconds since the epoch.',
  publishers: ['validation'],
  audience: 'outside',
  tail: [],
  schema: z.object({
    replay_id: replayId,
    case_id: z.string(),
    /** Names the pair of runs that it is one of; null in a regression run. */
    pair: z.string().nullable(),
    replay_input: z.unknown(),
    /** The rule on trial, when this run sees it. Which of the two runs of a pair it is, the rules that are read decide, not this. */
    candidate_rule_id: z.string().nullable(),
    /** The session id to use, for turns and for reading rules. */
    session_id: z.string(),
    tape: toolTape.nullable(),
    /** After it the replay is inconclusive. It counts from the start, where `env_deadline` is given. */
    deadline: z.int(),
    /** Until then the worker may wait for a shared environment before it says that it has started. */
    env_deadline: z.int().nullable(),
  }),
});
export type ReplayRequested = z.output<(typeof replayRequested)['schema']>;

export const replayStarted = defineEvent({
  type: 'replay.started',
  stream: 'FM_REPLAYS_DONE',
  summary: 'A worker has begun to run a replay: from now on its own time counts.',
  publishers: ['replay workers'],
  audience: 'services',
  tail: [],
  schema: z.looseObject({ replay_id: replayId }),
});

export const replayFinished = defineEvent({
  type: 'replay.finished',
  stream: 'FM_REPLAYS_DONE',
  summary: 'A replay was run, or could not be.',
  publishers: ['replay workers'],
  audience: 'services',
  tail: [],
  schema: z.looseObject({
    replay_id: replayId,
    session_id: z.string().min(1).max(255).nullish(),
    error: z.string().max(2_000).nullish(),
    /** The last turn that was published, so that nobody scores an earlier one. Without it the newest one that is stored is taken. */
    turn_index: z.int().min(0).nullish(),
    /** Which share of the tool calls came from the tape, from 0 to 1; null without a tape. */
    tape_share: z.number().min(0).max(1).nullish(),
  }),
});

export const replayTurn = defineEvent({
  type: 'replay.turn',
  stream: 'FM_TURNS',
  summary: 'A turn of a replay. Stored, never gated, and scored when validation asks.',
  publishers: ['replay workers'],
  audience: 'services',
  tail: [],
  schema: turnEndedInput.extend({ replay_id: replayId }),
});

export const replayScored = defineEvent({
  type: 'replay.scored',
  stream: 'FM_SCORES',
  summary: 'The scores of one tier of the last trace of a replay.',
  publishers: ['scoring'],
  audience: 'services',
  tail: [],
  schema: traceScored.schema.extend({ replay_id: replayId }),
});
