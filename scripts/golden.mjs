// npm run golden -- DIR: runs every golden file in DIR through the domain code. Exit 1 when a line differs.
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { requireNode, ROOT } from './run.mjs';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error('Name the folder with the golden files: npm run golden -- ../shared/golden');
  process.exit(2);
}
if (!existsSync(folder) || !statSync(folder).isDirectory()) {
  console.error(`There is no folder ${resolve(folder)}.`);
  process.exit(3);
}
requireNode();
await prepareOrExit();
const { runGolden } = await import(new URL(`file://${join(ROOT, 'dist/test/golden/run.js')}`).href);
process.exitCode = await runGolden(folder);
