import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json: this file lies at different depths in the sources and in dist. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

/** A generated document of docs/generated; undefined when it is not there. */
export async function generatedDocument(name: string): Promise<string | undefined> {
  try {
    return await readFile(join(packageRoot(), 'docs/generated', name), 'utf8');
  } catch {
    return undefined;
  }
}
