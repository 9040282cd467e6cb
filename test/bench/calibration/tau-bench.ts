import { projectSettings, type ProjectSettingsPatch, type Turn } from '#contracts';
import {
  calibrateGate,
  confusionOf,
  defaultGrid,
  ratiosOf,
  type GateCalibration,
  type StoredSession,
  type StoredTrack,
} from '#domain/calibration';
import { runCheck } from '#domain/checks';
import {
  canFire,
  gateConfig,
  gateSettings,
  metricsOfTier,
  untouched,
  type Evidence,
  type GateConfig,
  type TierAnswer,
} from '#domain/gate';
import { refold } from '#domain/report';
import { normaliseTurn } from '#ingest';
import { tauBench } from '#recordings';
import { median } from 'simple-statistics';
import { readShared } from '../../support/root.js';

/**
 * Alerts against reward, in memory: every recording is scored by the checks and folded as gating does, with the default settings and
 * with those that gate calibration recommends from half of the tasks. Prints the table of docs/benchmarks.md, and on standard error
 * what was recommended.
 */
const TARGETS = [0.9, 0.7];

interface Recording {
  readonly session: string;
  readonly task: number;
  readonly failed: boolean;
  /** Per turn, what the checks say. Gate settings change nothing of it. */
  readonly turns: readonly Evidence[];
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function readRecordings(config: GateConfig): Recording[] {
  const tools = JSON.parse(readShared('tau-bench/airline-tools.json')) as unknown[];
  const rows = readShared('tau-bench/gpt-4o-airline-tasks-00-24.jsonl').trim().split('\n');
  return rows.map((text) => {
    const row = JSON.parse(text) as { task_id: number; trial: number };
    const { turns, reward } = tauBench(row, { tools, domain: 'airline' });
    const evidence = turns.map((input) => evidenceOf(normalised(input), config));
    return { session: `${row.task_id}-${row.trial}`, task: row.task_id, failed: reward !== 1, turns: evidence };
  });
}

function normalised(input: unknown): Turn {
  const result = normaliseTurn(input);
  if (result.ok) return result.turn;
  throw new Error(`a recording is no turn: ${JSON.stringify(result.errors)}`);
}

/** Tier 1 on every trace, tier 2 on the last one; the fold takes tier 2 only where it asks for it. */
function evidenceOf(turn: Turn, config: GateConfig): Evidence {
  const traces = turn.traces ?? [];
  const context = { turn, earlierAnswers: [] };
  const answer = (tier: 1 | 2, of: typeof traces): TierAnswer => {
    const metrics = metricsOfTier(config, tier);
    const scores = of.flatMap((trace) => metrics.map((metric) => runCheck(metric, trace, context)));
    return { answer: 1, pending: false, scores };
  };
  return { 1: answer(1, traces), 2: answer(2, traces.slice(-1)) };
}

/** The first turn that fires; null: the session never alerts. */
function firstAlert({ session, turns }: Recording, config: GateConfig): number | null {
  const evaluated = turns.map((evidence, turn) => ({
    facts: { session, turn, acceptedAt: turn, partial: false, skipped: null, signals: [] },
    ...{ evidence, config, folded: true, requested: [], revision: 0, digest: '' },
  }));
  const { decisions } = refold({ before: untouched, turns: evaluated, newest: turns.length - 1, digestOf: () => '' });
  return decisions.find(({ fired }) => fired.length > 0)?.turn ?? null;
}

function storedSession({ session, turns }: Recording): StoredSession {
  const tracks = new Map<string, StoredTrack & { readonly turns: number[]; readonly values: number[] }>();
  for (const [turn, evidence] of turns.entries()) {
    for (const { metric, source, status, value } of evidence[1]?.scores ?? []) {
      if (status !== 'scored' || value === null) continue;
      const track = tracks.get(`${metric}@${source}`) ?? { metric, source, turns: [], values: [] };
      track.turns.push(turn);
      track.values.push(value);
      tracks.set(`${metric}@${source}`, track);
    }
  }
  return { session, lastTurn: turns.length - 1, tracks: [...tracks.values()] };
}

function calibrateOn(recordings: readonly Recording[], config: GateConfig, targetPrecision: number): GateCalibration {
  const calibration = calibrateGate({
    sessions: recordings.map(storedSession),
    labels: new Map(recordings.map(({ session, failed }) => [session, failed])),
    ...{ grid: defaultGrid, targetPrecision },
    isGated: (metric) => metricsOfTier(config, 1).includes(metric),
    settingsOf: ({ metric, source }) => gateSettings(config, metric, source),
    mayFire: ({ metric, source }) => canFire(config, metric, source),
  });
  for (const { metric, source, recommendation } of calibration.tracks) {
    const { settings, outcome, reached, ties } = recommendation ?? {};
    const found = JSON.stringify({ reached, settings, labeled: outcome?.labeled, ties: ties?.length });
    process.stderr.write(`${metric}@${source} for precision ${targetPrecision}: ${found}\n`);
  }
  return calibration;
}

/** `config` null: every session alerts in its first turn, which is what any gate has to beat. */
function row(sessions: string, settings: string, recordings: readonly Recording[], config: GateConfig | null): string {
  const alerts = recordings.map((one) => ({ ...one, first: config === null ? 0 : firstAlert(one, config) }));
  const confusion = confusionOf(alerts.map(({ first, failed }) => [first !== null, failed]));
  const { precision, recall, f1 } = ratiosOf(confusion);
  const before = alerts.flatMap(({ first, turns }) => (first === null ? [] : [turns.length - 1 - first]));
  const failed = confusion.tp + confusion.fn;
  const counts = [`${recordings.length} (${failed} failed)`, before.length, confusion.tp, confusion.fp];
  const ratios = [precision, recall, f1].map((ratio) => (before.length === 0 ? '-' : ratio.toFixed(2)));
  return `| ${[sessions, settings, ...counts, ...ratios, before.length === 0 ? '-' : median(before)].join(' | ')} |`;
}

function settingsOf(patch: ProjectSettingsPatch): GateConfig {
  return gateConfig(projectSettings.parse(patch));
}

function main(): void {
  const defaults = settingsOf({});
  const recordings = readRecordings(defaults);
  const even = recordings.filter(({ task }) => task % 2 === 0);
  const odd = recordings.filter(({ task }) => task % 2 === 1);
  print(
    '| sessions | settings | sessions (failed) | alerted | of failed | of solved | precision | recall | F1 | median turns before the end |',
  );
  print('|---|---|---|---|---|---|---|---|---|---|');
  print(row('all', 'every session alerts', recordings, null));
  print(row('all', 'defaults', recordings, defaults));
  const both = (settings: string, config: GateConfig | null): void => {
    print(row('even tasks', settings, even, config));
    print(row('odd tasks', settings, odd, config));
  };
  both('every session alerts', null);
  both('defaults', defaults);
  for (const target of TARGETS) {
    const { gate_overrides } = calibrateOn(even, defaults, target);
    both(`gate calibrated for ${target}`, settingsOf({ gate_overrides }));
  }
}

main();
