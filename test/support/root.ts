import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder, also when this file runs from dist. */
export const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  return rootAbove(dirname(folder));
}

/** Where the recordings and cases lie that come with the design; not part of the repository. */
export const SHARED = join(ROOT, '..', 'shared', 'data');

export function readShared(path: string): string {
  return readFileSync(join(SHARED, path), 'utf8');
}

/**
 * Whether the shared recordings are there. Where they must be (CI) their absence is an error; elsewhere one line says what
 * is left out.
 */
export function sharedIsThere(what: string): boolean {
  if (existsSync(SHARED)) return true;
  if (process.env['CI'] === 'true') throw new Error(`${SHARED} is missing: ${what} needs it`);
  process.stderr.write(`skipped: ${what}, since ${SHARED} is not there\n`);
  return false;
}
