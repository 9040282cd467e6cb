import { createHash } from 'node:crypto';
import { untouched, type GateConfig, type Trajectory } from '#domain/gate';
import { canonicalJson } from '#domain/text';
import type { Report } from '#contracts';
import { Reader } from '../postgres/reader.js';
import { decideAgain, storedConfigs, storedTurns, type StoredTurn } from '../stored-turn.js';
import { rowLines, type AddLine } from './row-lines.js';

/** Everything that must come out the same whatever came in which order, as sorted lines without ids and times. */
export interface FinalState {
  readonly digest: string;
  readonly lines: readonly string[];
}

export interface FinalStateOptions {
  readonly databaseUrl: string;
  /** Only this project. */
  readonly project?: string | undefined;
}

/**
 * The final state of every project: scores, series, gate states, reports (without revision and time of acceptance), notices
 * other than `corrected`, episodes. Two runs may be compared line by line, also of projects with different names.
 */
export async function finalState({ databaseUrl, project }: FinalStateOptions): Promise<Map<string, FinalState>> {
  const reader = await Reader.open(databaseUrl);
  try {
    await reader.snapshot();
    const lines = new Map<string, string[]>();
    const add = (of: string, ...line: readonly unknown[]): void => {
      const own = lines.get(of) ?? [];
      own.push(canonicalJson(line));
      lines.set(of, own);
    };
    await turnLines(reader, project, add);
    await rowLines(reader, project, add);
    return new Map([...lines].map(([name, own]) => [name, digested(own)]));
  } finally {
    await reader.close();
  }
}

/** Where two final states first differ, for a person; null when they are equal. */
export function firstDifference(one: FinalState | undefined, other: FinalState | undefined): string | null {
  const a = one?.lines ?? [];
  const b = other?.lines ?? [];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1)
    if (a[index] !== b[index]) return `line ${index + 1}:\n- ${a[index] ?? '(nothing)'}\n+ ${b[index] ?? '(nothing)'}`;
  return null;
}

function digested(lines: string[]): FinalState {
  lines.sort();
  return { digest: createHash('sha256').update(lines.join('\n')).digest('hex'), lines };
}

/** Series and reports, decided again from the facts, so that the stored decisions are compared by what they mean. */
async function turnLines(reader: Reader, project: string | undefined, add: AddLine): Promise<void> {
  const configs = await storedConfigs(reader);
  let current: SessionDump | undefined;
  for await (const turn of storedTurns(reader, project)) {
    if (current?.s !== turn.s) {
      current?.finish(add);
      current = new SessionDump(turn.s, turn.project, turn.session);
    }
    current.turn(turn, configs, add);
  }
  current?.finish(add);
}

class SessionDump {
  private trajectory: Trajectory = untouched;
  private readonly series = new Map<string, number[]>();

  constructor(
    readonly s: string,
    private readonly project: string,
    private readonly session: string,
  ) {}

  turn(turn: StoredTurn, configs: ReadonlyMap<string, GateConfig>, add: AddLine): void {
    const config = configs.get(turn.config);
    if (config === undefined || !turn.folded) return add(this.project, 'unfolded', this.session, turn.t, turn.evidence);
    const { after, decisions } = decideAgain(this.trajectory, turn, config);
    const [decision] = decisions;
    this.trajectory = after;
    add(this.project, 'turn', this.session, turn.t, {
      state: turn.state,
      fired: decision?.fired ?? null,
      standing: turn.standing,
      published: turn.rev > 0,
    });
    if (decision !== undefined) this.report(decision.report, add);
  }

  finish(add: AddLine): void {
    for (const [metric, values] of this.series) add(this.project, 'series', this.session, metric, values);
  }

  private report({ revision: _revision, accepted_at: _at, ...report }: Report, add: AddLine): void {
    add(this.project, 'report', this.session, report.turn_index, report);
    for (const { metric, source, value } of report.scores) {
      if (value === null) continue;
      const track = `${metric}@${source}`;
      this.series.set(track, [...(this.series.get(track) ?? []), value]);
    }
  }
}
