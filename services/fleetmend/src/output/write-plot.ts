import { writeFile } from 'node:fs/promises';
import type { Spec } from 'vega';
import { say } from './write.js';

/** Draws into a file, as SVG. Vega is large, and loaded for this alone. */
export async function writePlot(file: string, spec: Spec): Promise<void> {
  const { parse, View } = await import('vega');
  const view = new View(parse(spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  await writeFile(file, svg);
  say(`plot: ${file}`);
}
