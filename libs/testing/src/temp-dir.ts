import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for one test's servers. The process id in its name lets a later `npm test` remove what a killed run has left. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), `fleetmend-test-${process.pid}-`));
  // Root's Postgres runs as another user, who has to pass through.
  await chmod(dir, 0o711);
  return dir;
}
