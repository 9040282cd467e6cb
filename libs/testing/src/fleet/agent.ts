import { draw } from './draw.js';
import { failureModes, type ModeName, type PlannedCall, type PlannedTurn } from './modes.js';
import { meaningOf, type Effect, type RuleReader } from './rules.js';
import { turnOf, type FleetTurn } from './turn-of.js';

export interface FleetOptions {
  readonly seed: number;
  /** How often each kind of task fails while no rule is read; tasks are drawn among those named, in equal shares. */
  readonly rates: Readonly<Partial<Record<ModeName, number>>>;
  /** Tasks of a session, one turn each, after an opening turn in which nothing happens. Default 1. */
  readonly tasks?: number;
  /** What reading a rule does to the rate. Default: half, nothing, half as much again. */
  readonly factors?: Readonly<Record<Effect, number>>;
  /** How agents look for advice: by the list and the scope of the task, or by searching. Default `scope`. */
  readonly reading?: 'scope' | 'search';
  /** How tools are called: what it throws fails the call. Default: every call ends as planned. */
  readonly callTool?: (call: PlannedCall) => Promise<unknown>;
}

/** What a task was, so that it can be done again: a turn's end state, and so a case's replay input. */
export interface FleetTask {
  readonly task: ModeName;
  readonly order: number;
}

const FACTORS: Readonly<Record<Effect, number>> = { helpful: 0.5, placebo: 1, harmful: 1.5 };
const ORDERS = 9_000;
const OPENING = { request: 'Hello, can you help me with an order?', answer: 'Hello, I can help you with your order.', calls: [] };

/**
 * One session of the fleet: an opening turn, then its tasks. Whether a task fails depends on the seed, the session, the task's number
 * and the rules that the session has read, and on nothing else.
 */
export async function* runSession(session: string, rules: RuleReader, options: FleetOptions): AsyncGenerator<FleetTurn> {
  const agent = new Agent(session, rules, options);
  const tasks = options.tasks ?? 1;
  yield turnOf({ session, turn: 0 }, OPENING);
  for (let turn = 1; turn <= tasks; turn += 1) yield agent.work(taskOf(session, turn, options), turn, turn === tasks);
}

/** The same task again, in a session of its own. */
export function replayTask(session: string, task: FleetTask, rules: RuleReader, options: FleetOptions): Promise<FleetTurn> {
  return new Agent(session, rules, options).work(task, 0, true);
}

export function isFleetTask(value: unknown): value is FleetTask {
  const { task, order } = (value ?? {}) as Partial<FleetTask>;
  return typeof task === 'string' && Object.hasOwn(failureModes, task) && typeof order === 'number';
}

function taskOf(session: string, turn: number, { seed, rates }: FleetOptions): FleetTask {
  const modes = Object.keys(rates) as ModeName[];
  const task = modes[Math.floor(draw(seed, session, turn, 'mode') * modes.length)];
  if (task === undefined) throw new Error('a fleet needs at least one kind of task: name it in `rates`');
  return { task, order: 1_000 + Math.floor(draw(seed, session, turn, 'order') * ORDERS) };
}

class Agent {
  /** By id, since several reads may give the same rule. */
  private readonly known = new Map<string, string>();

  constructor(
    private readonly session: string,
    private readonly rules: RuleReader,
    private readonly options: FleetOptions,
  ) {}

  async work(task: FleetTask, turn: number, final: boolean): Promise<FleetTurn> {
    const mode = failureModes[task.task];
    await this.read(mode.scope, mode.description);
    const fails = draw(this.options.seed, this.session, turn, 'fails') < this.rate(task.task);
    const hint = { key: mode.scope, description: mode.description, applicability: 'topical' as const, recommended: true };
    const plan = await this.act(fails ? mode.badly(task.order) : mode.well(task.order));
    return turnOf({ session: this.session, turn }, plan, {
      ...{
        final,
        end_state: { ...task },
        task_summary: mode.description,
        rule_scope_hints: [hint],
        rules_read: [...this.known.keys()],
      },
    });
  }

  private async act(plan: PlannedTurn): Promise<PlannedTurn> {
    const { callTool } = this.options;
    if (callTool === undefined) return plan;
    const calls: PlannedCall[] = [];
    for (const { tool, args, ...planned } of plan.calls) {
      const outcome = await callTool({ tool, args, ...planned }).then(
        (result) => ({ result }),
        (error: unknown) => ({ result: null, error: error instanceof Error ? error.message : String(error) }),
      );
      calls.push({ tool, args, ...outcome });
    }
    return { ...plan, calls };
  }

  private async read(scope: string, words: string): Promise<void> {
    const found = this.options.reading === 'search' ? await this.rules.search(words) : await this.readScope(scope);
    for (const { id, text } of found) this.known.set(id, text);
  }

  private async readScope(scope: string): ReturnType<RuleReader['read']> {
    const scopes = await this.rules.list();
    return scopes.some((one) => one.scope === scope) ? this.rules.read(scope) : [];
  }

  private rate(task: ModeName): number {
    const factors = this.options.factors ?? FACTORS;
    const meanings = [...this.known.values()].map(meaningOf).filter((one) => one?.mode === task);
    const factor = meanings.reduce((product, one) => product * factors[one?.effect ?? 'placebo'], 1);
    return Math.min(1, (this.options.rates[task] ?? 0) * factor);
  }
}
