import { turnEvaluated } from './gating.events.js';
import { breakerClosed, breakerOpened, episodeOpened, noticePosted, noticeResolved, sessionRecovered } from './mailbox.events.js';
import { episodeSettled } from './repair.events.js';
import {
  ruleCandidate,
  ruleChanged,
  ruleExposed,
  rulePromoted,
  ruleRestored,
  ruleRetired,
  ruleWithdrawn,
} from './rule.events.js';
import { replayFinished, replayRequested, replayScored, replayStarted, replayTurn } from './replay.events.js';
import { tierRequested, traceScored } from './scoring.events.js';
import { spansReceived } from './span.events.js';
import { deadLetter, healthChanged } from './system.events.js';
import { scorePosted, sessionEnded, turnEnded } from './turn.events.js';
import type { EventContract } from './event.js';

export const serviceNames = ['gateway', 'scoring', 'gating', 'mailbox', 'repair', 'validation'] as const;
export type ServiceName = (typeof serviceNames)[number];

export const events: readonly EventContract[] = [
  turnEnded,
  sessionEnded,
  scorePosted,
  spansReceived,
  traceScored,
  tierRequested,
  turnEvaluated,
  noticePosted,
  noticeResolved,
  sessionRecovered,
  breakerOpened,
  breakerClosed,
  episodeOpened,
  episodeSettled,
  ruleCandidate,
  rulePromoted,
  ruleRetired,
  ruleWithdrawn,
  ruleRestored,
  ruleChanged,
  ruleExposed,
  replayRequested,
  replayStarted,
  replayFinished,
  replayTurn,
  replayScored,
  healthChanged,
  deadLetter,
];

/** A durable pull consumer: which service reads which event. Names of durables and dead-letter subjects derive from it. */
export interface ConsumerContract {
  readonly durable: string;
  readonly service: ServiceName;
  readonly event: EventContract;
  /** Milliseconds after which an unacknowledged message comes back: the work of a batch takes far less. */
  readonly ackWaitMs: number;
  /** There only where a process setting asks for it; without a reader it would keep everything back. */
  readonly optional: boolean;
}

const QUICK_WORK_MS = 10_000;

function consumer(service: ServiceName, what: string, event: unknown, optional = false): ConsumerContract {
  return {
    durable: `${service}-${what}`,
    service,
    event: event as EventContract,
    ackWaitMs: QUICK_WORK_MS,
    optional,
  };
}

export const consumers = {
  scoringTurns: consumer('scoring', 'turns', turnEnded),
  scoringReplayTurns: consumer('scoring', 'replay-turns', replayTurn),
  scoringScores: consumer('scoring', 'scores', scorePosted),
  scoringSpans: consumer('scoring', 'spans', spansReceived),
  scoringTiers: consumer('scoring', 'tiers', tierRequested),
  scoringReports: consumer('scoring', 'reports', turnEvaluated, true),
  gatingScores: consumer('gating', 'scores', traceScored),
  mailboxReports: consumer('mailbox', 'reports', turnEvaluated),
  repairEpisodes: consumer('repair', 'episodes', episodeOpened),
  validationExposures: consumer('validation', 'exposures', ruleExposed),
  validationReports: consumer('validation', 'reports', turnEvaluated),
  validationReplayStarts: consumer('validation', 'replay-starts', replayStarted),
  validationReplayEnds: consumer('validation', 'replay-ends', replayFinished),
  validationReplayScores: consumer('validation', 'replay-scores', replayScored),
  validationSessions: consumer('validation', 'sessions', sessionEnded),
} as const satisfies Record<string, ConsumerContract>;

/** The consumers that every deployment has. */
export const requiredConsumers: readonly ConsumerContract[] = Object.values(consumers).filter(({ optional }) => !optional);

/** Subjects of a stream, one by one (never a catch-all), as the broker is told them. */
export function subjectsOfStream(stream: string): string[] {
  return events.filter((event) => event.stream === stream).map((event) => event.pattern);
}
