import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingTrial } from '#contracts';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { openGateway, type GatewayOptions } from '../http/gateway.js';
import { readPages } from '../http/pages.js';
import { answer, listed, type FormatOption } from '../output/answer.js';

export interface SettleValidationOptions extends GatewayOptions, FormatOption {
  readonly timeout: number;
}

interface SettledValidation {
  /** Nothing is under way any more that could decide a candidate. */
  readonly settled: boolean;
  readonly undecided: readonly PendingTrial[];
}

const PAUSE_MS = 500;

/** Waits until no candidate is both undecided and being decided. 1 when time ran out before. */
export async function settleValidation({ timeout, ...options }: SettleValidationOptions): Promise<ExitCode> {
  const gateway = await openGateway(options);
  const until = performance.now() + timeout * 1000;
  for (;;) {
    const { items: undecided } = await readPages<PendingTrial>(gateway, '/v1/pending-trials', {}, { all: true });
    const settled = undecided.every(({ open_sessions: open, pair_running: running }) => open === 0 && !running);
    if (settled || performance.now() >= until) {
      await answer({ settled, undecided }, options, text);
      return settled ? exitCodes.ok : exitCodes.finding;
    }
    await sleep(PAUSE_MS);
  }
}

function text({ settled, undecided }: SettledValidation): string {
  const rows = listed(
    undecided,
    [
      { title: 'rule', of: ({ rule_id: id }) => id },
      { title: 'scope', of: ({ scope }) => scope },
      { title: 'open sessions', of: ({ open_sessions: open }) => open, right: true },
      { title: 'replays', of: ({ pair_running: running }) => (running ? 'running' : 'none running') },
    ],
    'every candidate is decided',
  );
  return undecided.length === 0
    ? rows
    : `${rows}\n\n${settled ? 'nothing is under way: they wait for sessions, or for a case and a replay worker' : 'time is over; the trials go on'}`;
}
