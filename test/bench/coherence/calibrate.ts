import { cpus } from 'node:os';
import { embeddingCoherence, trigramCosine } from '#domain/checks';
import type { GateSettings } from '#domain/gate';
import { localEmbedder, type LocalEmbedder } from '#embeddings';
import { beside, conversations, type Conversation, type Texts } from './recorded.js';
import { calibrated, DEFAULTS, firing, type Series } from './firing.js';
import { QUANTILES, quantile, separation } from './separation.js';

// Measures the scale of each source of coherence on the tau-bench recordings, and what the gate would make of it. Prints the
// tables of docs/coherence.md: node dist/test/bench/coherence/calibrate.js

type Similarity = (texts: Texts) => Promise<number>;

interface Measured {
  readonly source: string;
  /** One per recording, in their order, and those retold beside the point. */
  readonly series: readonly Series[];
  readonly beside: readonly Series[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const fixed = (value: number, digits = 2): string => value.toFixed(digits);
const row = (...cells: readonly (string | number)[]): void => print(`| ${cells.join(' | ')} |`);
function head(...cells: readonly string[]): void {
  print('');
  row(...cells);
  row(...cells.map(() => '---'));
}

async function measure(source: string, recorded: readonly Conversation[], similarity: Similarity): Promise<Measured> {
  const all = async (told: readonly (readonly Texts[])[]): Promise<Series[]> => {
    const series: Series[] = [];
    for (const turns of told) {
      const values: number[] = [];
      for (const texts of turns) values.push(await similarity(texts));
      series.push(values);
    }
    return series;
  };
  return { source, series: await all(recorded.map(({ turns }) => turns)), beside: await all(beside(recorded)) };
}

/** Texts come up several times in the pairing; each is embedded once. */
function byMeaning(embedder: LocalEmbedder): Similarity {
  const known = new Map<string, readonly number[]>();
  const vectorOf = async (text: string): Promise<readonly number[]> => {
    const vector = known.get(text) ?? (await embedder.embed([text])).vectors[0] ?? [];
    known.set(text, vector);
    return vector;
  };
  return async ({ request, answer }) => embeddingCoherence(await vectorOf(request), await vectorOf(answer));
}

function printSeparation(measured: readonly Measured[]): void {
  head('source', 'pairs', 'n', ...QUANTILES.map((share) => `${share * 100} %`), 'AUC', 'best threshold (at or above it)');
  for (const { source, series, beside: told } of measured) {
    const { matched, beside: others, auc, best } = separation(series.flat(), told.flat());
    const share = `${fixed(best.threshold)} (${fixed(best.matched * 100, 0)} % to ${fixed(best.beside * 100, 0)} %)`;
    row(source, 'matched', series.flat().length, ...matched.map((value) => fixed(value)), fixed(auc, 3), share);
    row(source, 'beside the point', told.flat().length, ...others.map((value) => fixed(value)), '', '');
  }
}

function printPeaks(measured: readonly Measured[]): void {
  const shares = [0.01, 0.05, 0.1, 0.25, 0.5];
  head('source', 'conversations', ...shares.map((share) => `${share * 100} %`));
  for (const { source, series, beside: told } of measured)
    for (const [name, group] of [['recorded', series] as const, ['beside the point', told] as const])
      row(
        source,
        name,
        ...shares.map((share) =>
          fixed(
            quantile(
              group.map((values) => Math.max(...values)),
              share,
            ),
          ),
        ),
      );
}

function printFiring(measured: readonly Measured[], recorded: readonly Conversation[]): void {
  head('source', 'target', 'drop', 'recordings', 'n', 'stall', 'regression', 'either');
  for (const one of measured) {
    const calibration = calibrated(one.series);
    for (const settings of [DEFAULTS, calibration, { ...calibration, gate_drop: DEFAULTS.gate_drop }]) {
      for (const [name, group] of groupsOf(one, recorded)) {
        const { stalled, regressed, either } = firing(group, settings);
        row(one.source, settings.gate_target, settings.gate_drop, name, group.length, stalled, regressed, either);
      }
    }
  }
}

function groupsOf({ series, beside: told }: Measured, recorded: readonly Conversation[]): [string, readonly Series[]][] {
  return [
    ['solved', series.filter((_, at) => recorded[at]?.solved === true)],
    ['failed', series.filter((_, at) => recorded[at]?.solved === false)],
    ['beside the point', told],
  ];
}

/** Chosen on the tasks of one parity, measured on those of the other: how far the rule holds where it was not made. */
function printHalves(measured: readonly Measured[], recorded: readonly Conversation[]): void {
  head('source', 'chosen on', 'target', 'drop', 'measured on', 'n', 'either fired');
  for (const { source, series } of measured) {
    for (const parity of [0, 1]) {
      const half = (wanted: number): Series[] => series.filter((_, at) => (recorded[at]?.task ?? 0) % 2 === wanted);
      const settings: GateSettings = calibrated(half(parity));
      const others = half(1 - parity);
      const names = parity === 0 ? ['even tasks', 'odd tasks'] : ['odd tasks', 'even tasks'];
      const { gate_target: target, gate_drop: drop } = settings;
      row(source, names[0] ?? '', target, drop, names[1] ?? '', others.length, firing(others, settings).either);
    }
  }
}

async function printCost(): Promise<void> {
  const before = process.memoryUsage().rss;
  const embedder = localEmbedder();
  const started = performance.now();
  await embedder.embed(['Where is my order?']);
  head('local model', 'measured');
  row('first text, with loading (ms)', fixed(performance.now() - started, 0));
  const text = 'I would like to cancel my reservation from New York to Chicago on May 20, and get a refund to my card. '.repeat(
    10,
  );
  for (const length of [100, 300, 600, 1000]) {
    const times: number[] = [];
    for (let n = 0; n < 20; n += 1) times.push((await embedder.embed([text.slice(0, length)])).usage.latencyMs);
    row(`a text of ${length} characters (ms, median of 20)`, fixed(quantile(times, 0.5), 0));
  }
  row('resident memory added (MiB)', fixed((process.memoryUsage().rss - before) / 2 ** 20, 0));
  await embedder.close();
}

async function main(): Promise<void> {
  print(`${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`);
  await printCost();
  const recorded = conversations();
  const embedder = localEmbedder();
  const measured = [
    await measure('lexical', recorded, ({ request, answer }) => Promise.resolve(trigramCosine(request, answer))),
    await measure('embedding, local', recorded, byMeaning(embedder)),
  ];
  await embedder.close();
  printSeparation(measured);
  printPeaks(measured);
  printFiring(measured, recorded);
  printHalves(measured, recorded);
}

await main();
