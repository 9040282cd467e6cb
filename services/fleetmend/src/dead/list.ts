import type { NatsConnection } from '@nats-io/transport-node';
import { sanitize } from '#domain/text';
import { withBroker } from '../jetstream/connect.js';
import { readDeadLetter, readDeadLetters, type DeadLetter } from '../jetstream/dead-letters.js';
import { answer, listed, type FormatOption } from '../output/answer.js';
import type { Column } from '../output/table.js';
import { say } from '../output/write.js';
import { withDatabase, type Database } from '../postgres/database.js';
import { redriven } from '../postgres/redrives.js';
import { requireServers } from '../servers.js';

export interface DeadListOptions extends FormatOption {
  readonly consumer?: string;
  readonly limit: number;
  readonly payload?: boolean;
}

interface ListedLetter extends DeadLetter {
  readonly redriven: boolean;
  readonly payload?: string;
}

const SHOWN_PAYLOAD = 2_000;

export async function listDead(options: DeadListOptions): Promise<void> {
  const { natsUrl, databaseUrl } = await requireServers();
  const { letters, more } = await withBroker(natsUrl, (nats) => withDatabase(databaseUrl, (db) => read(nats, db, options)));
  await answer(letters, options, (items) => listed(items, columns, 'no dead letters'));
  if (more) say(`more than ${options.limit}: see further with --limit`);
}

async function read(
  nats: NatsConnection,
  db: Database,
  { consumer, limit, payload }: DeadListOptions,
): Promise<{ letters: ListedLetter[]; more: boolean }> {
  const found: DeadLetter[] = [];
  let more = false;
  for await (const letter of readDeadLetters(nats, consumer)) {
    more = found.length >= limit;
    if (more) break;
    found.push(letter);
  }
  const done = await redriven(
    db,
    found.map(({ sequence }) => sequence),
  );
  const letters: ListedLetter[] = [];
  for (const letter of found) {
    const shown = payload === true ? { payload: await payloadOf(nats, letter.sequence) } : {};
    letters.push({ ...letter, redriven: done.has(letter.sequence), ...shown });
  }
  return { letters, more };
}

async function payloadOf(nats: NatsConnection, sequence: number): Promise<string> {
  const found = await readDeadLetter(nats, sequence);
  return sanitize(new TextDecoder().decode(found?.data.subarray(0, SHOWN_PAYLOAD)), { markers: [] });
}

const columns: readonly Column<ListedLetter>[] = [
  { title: 'letter', of: ({ sequence }) => sequence, right: true },
  { title: 'at', of: ({ at }) => at.slice(0, 19).replace('T', ' ') },
  { title: 'consumer', of: ({ consumer }) => consumer },
  { title: 'project', of: ({ project }) => project ?? '' },
  { title: 'bytes', of: ({ bytes }) => bytes, right: true },
  { title: 'state', of: ({ redriven: done, cut_bytes: cut }) => (done ? 'redriven' : cut > 0 ? 'cut' : 'dead') },
  { title: 'reason', of: ({ reason, payload }) => (payload === undefined ? reason : `${reason} | ${payload}`) },
];
