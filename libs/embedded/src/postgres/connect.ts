import pg from 'pg';

/** Opens one connection; the caller ends it. Throws what `pg` throws, after at most `timeoutMs`. */
export async function connectTo(url: string, timeoutMs: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    application_name: 'fleetmend-start',
  });
  // A connection may break between queries; the next query says so, and an unheard event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
