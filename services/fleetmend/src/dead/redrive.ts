import type { NatsConnection } from '@nats-io/transport-node';
import { CommandError, exitCodes, type ExitCode } from '../exit-codes.js';
import { withBroker } from '../jetstream/connect.js';
import { readDeadLetter, readDeadLetters, republish } from '../jetstream/dead-letters.js';
import { answer, type FormatOption } from '../output/answer.js';
import { withDatabase, type Database } from '../postgres/database.js';
import { redriveOnce } from '../postgres/redrives.js';
import { requireServers } from '../servers.js';

export interface RedriveOptions extends FormatOption {
  readonly consumer?: string;
  readonly all?: boolean;
}

type Outcome = 'redriven' | 'already redriven' | 'cut' | 'not found';

interface Redrive {
  readonly sequence: number;
  readonly outcome: Outcome;
  readonly note: string;
}

/** Gives exit code 3 when a letter was not found, 1 when one could not be redriven. */
export async function redriveDead(given: readonly number[], options: RedriveOptions): Promise<ExitCode> {
  if ((given.length === 0) === (options.all !== true))
    throw new CommandError(exitCodes.usage, 'name the letters (`fleetmend dead list` shows them), or say --all');
  if (options.consumer !== undefined && options.all !== true)
    throw new CommandError(exitCodes.usage, '--consumer goes with --all');
  const { natsUrl, databaseUrl } = await requireServers();
  const outcomes = await withBroker(natsUrl, (nats) =>
    withDatabase(databaseUrl, async (db) => {
      const results: Redrive[] = [];
      for (const sequence of options.all === true ? await allOf(nats, options.consumer) : given)
        results.push(await redrive(nats, db, sequence));
      return results;
    }),
  );
  // With --all, what was done before is not worth a line each time.
  const told = options.all === true ? outcomes.filter(({ outcome }) => outcome !== 'already redriven') : outcomes;
  await answer(told, options, (items) =>
    items.length === 0 ? 'nothing to redrive' : items.map(({ sequence, note }) => `${sequence}: ${note}`).join('\n'),
  );
  if (told.some(({ outcome }) => outcome === 'not found')) return exitCodes.notFound;
  return told.some(({ outcome }) => outcome === 'cut') ? exitCodes.finding : exitCodes.ok;
}

async function allOf(nats: NatsConnection, consumer: string | undefined): Promise<number[]> {
  const sequences: number[] = [];
  for await (const { sequence } of readDeadLetters(nats, consumer)) sequences.push(sequence);
  return sequences;
}

async function redrive(nats: NatsConnection, db: Database, sequence: number): Promise<Redrive> {
  const found = await readDeadLetter(nats, sequence);
  if (found === undefined) return { sequence, outcome: 'not found', note: 'there is no dead letter of this number' };
  const { letter, data } = found;
  if (letter.cut_bytes > 0) {
    const note = `its last ${letter.cut_bytes} bytes were cut off when it died, so it cannot be redriven: send the original again`;
    return { sequence, outcome: 'cut', note };
  }
  if (letter.subject === '') return { sequence, outcome: 'cut', note: 'it does not say where it came from' };
  const sent = await redriveOnce(db, sequence, () => republish(nats, letter, data));
  return sent
    ? { sequence, outcome: 'redriven', note: `sent to ${letter.subject}` }
    : { sequence, outcome: 'already redriven', note: 'it was redriven before, and is not sent twice' };
}
