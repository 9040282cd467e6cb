export type StreamName =
  | 'FM_TURNS'
  | 'FM_SPANS'
  | 'FM_SCORES'
  | 'FM_REPORTS'
  | 'FM_NOTICES'
  | 'FM_EPISODES'
  | 'FM_RULES'
  | 'FM_EXPOSURES'
  | 'FM_REPLAYS'
  | 'FM_REPLAYS_DONE'
  | 'FM_DEAD';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const MIB = 1024 * 1024;

/**
 * `queue` streams keep a message until its one consumer has acknowledged it and refuse new ones when full; `log` streams keep
 * by age and size and let the oldest go. Sizes are bytes, ages seconds.
 */
export interface StreamContract {
  readonly name: StreamName;
  readonly kind: 'queue' | 'log';
  readonly summary: string;
  readonly maxBytes: number;
  readonly maxAgeS?: number;
  readonly maxMessages?: number;
  readonly maxMessagesPerSubject?: number;
  /** Also published, after being stored, under `live.<subject>`. */
  readonly republish: boolean;
  /** Seconds in which a second message with the same id is dropped. */
  readonly duplicateWindowS: number;
}

/** The server's own least value. Turns are told apart in Postgres; a foreign `Nats-Msg-Id` must not suppress one. */
const LEAST_WINDOW_S = 0.1;

export const streams: readonly StreamContract[] = [
  {
    name: 'FM_TURNS',
    kind: 'queue',
    summary: 'What agents say: ended turns, closed sessions, late scores.',
    maxBytes: 2048 * MIB,
    maxMessagesPerSubject: 50_000,
    republish: false,
    duplicateWindowS: LEAST_WINDOW_S,
  },
  {
    name: 'FM_SPANS',
    kind: 'queue',
    summary: 'Spans that came over OpenTelemetry: however many there are, turns have their own room.',
    maxBytes: 2048 * MIB,
    maxMessagesPerSubject: 50_000,
    republish: false,
    duplicateWindowS: LEAST_WINDOW_S,
  },
  {
    name: 'FM_SCORES',
    kind: 'queue',
    summary: 'Scores and requests for scores.',
    maxBytes: 1024 * MIB,
    republish: false,
    duplicateWindowS: 120,
  },
  {
    name: 'FM_REPORTS',
    kind: 'log',
    summary: 'One report per turn and revision.',
    maxBytes: 2048 * MIB,
    maxAgeS: DAY_S,
    republish: true,
    duplicateWindowS: 120,
  },
  {
    name: 'FM_NOTICES',
    kind: 'log',
    summary: 'Notices, recoveries, breaker and health changes.',
    maxBytes: 512 * MIB,
    maxAgeS: 30 * DAY_S,
    maxMessages: 500_000,
    republish: true,
    duplicateWindowS: DAY_S,
  },
  {
    name: 'FM_EPISODES',
    kind: 'queue',
    summary: 'Episodes that wait for a repair worker.',
    maxBytes: 256 * MIB,
    republish: false,
    duplicateWindowS: 120,
  },
  {
    name: 'FM_RULES',
    kind: 'log',
    summary: 'What became of rules, and that caches of them are out of date.',
    maxBytes: 256 * MIB,
    maxAgeS: 90 * DAY_S,
    republish: true,
    duplicateWindowS: DAY_S,
  },
  {
    name: 'FM_EXPOSURES',
    kind: 'queue',
    summary: 'Which session read which rules.',
    maxBytes: 512 * MIB,
    republish: false,
    duplicateWindowS: 120,
  },
  {
    name: 'FM_REPLAYS',
    kind: 'queue',
    summary: 'Cases that a replay worker of the project should run again.',
    maxBytes: 256 * MIB,
    republish: false,
    duplicateWindowS: 120,
  },
  {
    name: 'FM_REPLAYS_DONE',
    kind: 'queue',
    summary: 'What replay workers say of the replays they took.',
    maxBytes: 128 * MIB,
    republish: false,
    duplicateWindowS: 120,
  },
  {
    name: 'FM_DEAD',
    kind: 'log',
    summary: 'What could never succeed, with the reason.',
    maxBytes: 512 * MIB,
    maxAgeS: 30 * DAY_S,
    republish: false,
    duplicateWindowS: 120,
  },
];

/** Prefix under which the broker republishes what FM_REPORTS, FM_NOTICES and FM_RULES store. */
export const LIVE_PREFIX = 'live';
