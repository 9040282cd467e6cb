import { createReadStream } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { trackName, type StoredSession } from '#domain/calibration';
import { CommandError, exitCodes } from '../exit-codes.js';
import { isBlank, splitLines } from '../lines/split-lines.js';
import { fieldsOf, isFields, numberOf, textOf, type Fields } from '../offline/shapes.js';

const EXAMPLE = '{"session_id": "s", "turn_index": 0, "metric": "task_completion", "value": 0.9}';
/** What a line means that does not say it: the commonest track. */
const [DEFAULT_METRIC, DEFAULT_SOURCE] = ['task_completion', 'check'];

/** Scores of a JSONL file (`-`: standard input). @throws CommandError 2 naming the first bad line */
export async function readScoresFile(file: string): Promise<StoredSession[]> {
  if (file !== '-') await access(file, constants.R_OK);
  const collected = new CollectedScores();
  for await (const { bytes, number } of splitLines(
    (file === '-' ? process.stdin : createReadStream(file)) as AsyncIterable<Buffer>,
  )) {
    if (bytes !== null && isBlank(bytes)) continue;
    try {
      if (bytes === null) throw new RangeError('longer than 64 MiB');
      collected.add(JSON.parse(bytes.toString('utf8')));
    } catch (error) {
      throw new CommandError(exitCodes.usage, `${file}, line ${number}: ${(error as Error).message}`, { cause: error });
    }
  }
  return collected.sessions();
}

interface Point {
  readonly turn: number;
  readonly value: number;
}

interface Track {
  readonly metric: string;
  readonly source: string;
  readonly points: Point[];
}

/**
 * Lines of three shapes: one score (`{session_id, turn_index, metric, source?, value}`), a series (`{session_id, values: [0.9, …],
 * metric?, source?}`, one turn each), and several metrics (`{session_id, values: {metric: 0.9 or [0.9, …]}, source?}`). A value of
 * null was not scored.
 */
export class CollectedScores {
  private readonly bySession = new Map<string, Map<string, Track>>();

  /** @throws TypeError that says what is wrong with the line */
  add(line: unknown): void {
    const fields = fieldsOf(line, EXAMPLE);
    const session = textOf(fields.session_id, 'session_id');
    const source = fields.source === undefined ? DEFAULT_SOURCE : textOf(fields.source, 'source');
    if ('values' in fields) return this.addSeries(session, source, fields);
    const track = this.track(session, textOf(fields.metric, 'metric'), source);
    if (fields.value === null) return;
    track.points.push({ turn: turnOf(fields.turn_index), value: unit(fields.value, 'value') });
  }

  /** In the order in which they first came; values by turn, and within a turn as they came. */
  sessions(): StoredSession[] {
    return [...this.bySession].map(([session, tracks]) => {
      const sorted = [...tracks.values()]
        .filter(({ points }) => points.length > 0)
        .map((track) => ({ ...track, points: track.points.toSorted((a, b) => a.turn - b.turn) }));
      return {
        session,
        lastTurn: sorted.reduce((last, { points }) => Math.max(last, points.at(-1)?.turn ?? 0), 0),
        tracks: sorted.map(({ metric, source, points }) => ({
          ...{ metric, source },
          turns: points.map(({ turn }) => turn),
          values: points.map(({ value }) => value),
        })),
      };
    });
  }

  private addSeries(session: string, source: string, fields: Fields): void {
    const { values, metric = DEFAULT_METRIC } = fields;
    const byMetric = isFields(values) ? values : { [textOf(metric, 'metric')]: values };
    for (const [name, given] of Object.entries(byMetric)) {
      const track = this.track(session, name, source);
      const list: readonly unknown[] = Array.isArray(given) ? given : [given];
      const first = track.points.length;
      for (const [at, value] of list.entries())
        if (value !== null) track.points.push({ turn: first + at, value: unit(value, `values.${name}.${at}`) });
    }
  }

  private track(session: string, metric: string, source: string): Track {
    const tracks = this.bySession.get(session) ?? new Map<string, Track>();
    this.bySession.set(session, tracks);
    const name = trackName({ metric, source });
    const track = tracks.get(name) ?? { metric, source, points: [] };
    tracks.set(name, track);
    return track;
  }
}

function unit(value: unknown, path: string): number {
  const number = numberOf(value, path);
  if (number >= 0 && number <= 1) return number;
  throw new TypeError(`${path}: a number from 0 to 1 is needed, not ${number}`);
}

function turnOf(value: unknown): number {
  const turn = numberOf(value, 'turn_index');
  if (Number.isSafeInteger(turn) && turn >= 0) return turn;
  throw new TypeError(`turn_index: a whole number of at least 0 is needed, not ${turn}`);
}
