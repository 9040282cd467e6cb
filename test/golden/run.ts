import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { compareFile, type KindResult } from './compare-file.js';

const write = (line: string): void => void process.stdout.write(`${line}\n`);

/** Compares every golden file of a folder and prints what agrees. Gives the exit code: 1 when a line differs, 2 without any file. */
export async function runGolden(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  if (names.length === 0) {
    write(`no golden file (*.jsonl) in ${folder}`);
    return 2;
  }
  let compared = 0;
  let differing = 0;
  for (const name of names) {
    const file = basename(name, '.jsonl');
    for (const result of await compareFile(join(folder, name), file)) {
      write(lineOf(file, result));
      for (const { line, detail } of result.differences) write(`    line ${line}: ${detail}`);
      for (const [reason, at] of result.onPurpose)
        write(`    ours is another, on purpose, in ${at.length} lines (${at.join(', ')}): ${reason}`);
      if (!result.built) continue;
      compared += result.lines;
      differing += result.lines - result.equal;
    }
  }
  write(differing === 0 ? `all ${compared} compared lines are equal` : `${differing} of ${compared} compared lines differ`);
  return differing === 0 && compared > 0 ? 0 : 1;
}

function lineOf(file: string, { kind, built, lines, equal }: KindResult): string {
  const name = `${file}${kind === file ? '' : ` ${kind}`}`.padEnd(28);
  return built ? `${name} ${equal} of ${lines} equal${equal === lines ? '' : '  ✗'}` : `${name} not built yet (${lines} lines)`;
}
