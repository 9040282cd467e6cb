import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fail, ok, warn, type Finding } from './finding.js';

const NODE_MAJOR = 20;
const NODE_MINOR = 19;
const GIB = 1024 ** 3;
/** The embedded servers refuse to start below this. */
const LEAST_FREE_GIB = 0.25;
/** Streams and tables of a busy day. */
const GOOD_FREE_GIB = 2;

export function nodeVersion(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NODE_MAJOR || (major === NODE_MAJOR && minor >= NODE_MINOR);
  if (enough) return ok('node', version);
  return fail('node', `${version} is too old`, `install Node ${NODE_MAJOR}.${NODE_MINOR} or later`);
}

/** Room on the disk of the data folder, or where it would be made. */
export async function diskRoom(dataDir: string): Promise<Finding> {
  const disk = await nearest(dataDir);
  const free = disk.bavail * disk.bsize;
  const detail = `${(free / GIB).toFixed(1)} GiB free for ${dataDir}`;
  const advice = 'free some, or choose another data_dir';
  if (free < LEAST_FREE_GIB * GIB) return fail('disk', detail, advice);
  return free < GOOD_FREE_GIB * GIB ? warn('disk', detail, advice) : ok('disk', detail);
}

async function nearest(path: string): Promise<{ bavail: number; bsize: number }> {
  try {
    const { bavail, bsize } = await statfs(path);
    return { bavail, bsize };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    return nearest(dirname(path));
  }
}
