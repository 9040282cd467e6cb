import type { Command } from 'commander';
import type { Answerer } from '../offline/answer-lines.js';
import type { Finish } from '../exit-codes.js';
import { example, integer, number } from './options.js';

interface GateFlags {
  readonly gateWindow?: number;
  readonly gateTarget?: number;
  readonly gateGain?: number;
  readonly gateDrop?: number;
}

const LINES = 'JSONL; standard input without any, or for -';

/** The commands that need no servers: the same decisions as the services, one answer line per input line. */
export function registerOffline(program: Command, finish: Finish): void {
  registerGate(program, finish);
  registerTrial(groupOf(program, 'trial'), finish);
  const group = (name: string): Command => groupOf(program, name);
  offline(group('notice').command('dedup'), {
    finish,
    about: 'which notices a fleet of turns posts (kind dedup), or which turns are admitted (kind admit)',
    sample: `echo '{"turns": [{"session": "s", "t": 0, "signatures": ["breach:tool_correctness"]}]}' | fleetmend notice dedup`,
    load: async () => (await import('../offline/notices.js')).answerNoticeLine,
  });
  offline(group('episodes').command('group'), {
    finish,
    about: 'which pending notices one repair would work on together, per session',
    sample: 'fleetmend episodes group notices.jsonl',
    load: async () => (await import('../offline/episodes.js')).answerEpisodesLine,
  });
  offline(group('scope').command('check'), {
    finish,
    about: 'where a rule proposed with a scope would be filed, and whether agents can read that name: {input, context?}',
    sample: `echo '{"input": "Payment flows"}' | fleetmend scope check`,
    load: async () => (await import('../offline/scope.js')).answerScope,
  });
  offline(group('rules').command('novelty'), {
    finish,
    about: 'whether a proposed rule says something new, and what covers it: {existing, proposal}',
    sample: `echo '{"existing": [], "proposal": {"rule": "Check the status first.", "scope": "payments"}}' | fleetmend rules novelty`,
    load: async () => (await import('../offline/rules.js')).answerNovelty,
  });
  offline(group('rules').command('rank'), {
    finish,
    about: 'the order in which search and reading show rules: {rules, query, limit}',
    sample: 'fleetmend rules rank rules.jsonl',
    load: async () => (await import('../offline/rules.js')).answerRank,
  });
  offline(program.command('sanitize'), {
    finish,
    about: 'clean text from outside as the loop does before it stores or shows it',
    sample: `echo '{"input": "a\\u001b[31mb"}' | fleetmend sanitize`,
    load: async () => (await import('../offline/sanitize.js')).answerSanitize,
  });
  offline(program.command('score'), {
    finish,
    about: 'run the deterministic checks over a trace: {trace, tools?, request?, metrics?, earlier_answers?}',
    sample: `echo '{"trace": {"input": "hi", "output": "hello", "spans": []}}' | fleetmend score`,
    load: async () => (await import('#domain/checks')).answerScoreLine,
  });
}

function registerGate(program: Command, finish: Finish): void {
  const command = groupOf(program, 'gate')
    .command('replay')
    .description('fold series of values through the trajectory gate: {config?, values} in, {verdicts} out')
    .argument('[file...]', LINES)
    .option(
      '--gate-window <n>',
      'turns without gain after which a series stalls; a line’s own config wins over these flags',
      number,
    )
    .option('--gate-target <value>', 'a peak that never stalls', number)
    .option('--gate-gain <value>', 'the rise above the peak that is progress', number)
    .option('--gate-drop <value>', 'the fall below the peak that is a regression', number)
    .action(async (files: string[], flags: GateFlags) => {
      const { answerGateLine } = await import('../offline/gate.js');
      await run(files, answerGateLine(gateFlags(flags)), finish);
    });
  example(command, `echo '{"values": [0.2, 0.2, 0.2]}' | fleetmend gate replay --gate-window 2`);
}

function gateFlags({ gateWindow, gateTarget, gateGain, gateDrop }: GateFlags): Record<string, number> {
  const all = { gate_window: gateWindow, gate_target: gateTarget, gate_gain: gateGain, gate_drop: gateDrop };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function registerTrial(trial: Command, finish: Finish): void {
  const evaluate = trial
    .command('evaluate')
    .description(
      'the evidence for a rule and the verdict on it: {kind: live|pairs|trial, …} in, {logE, logEHarm, verdict, effect, …} out',
    )
    .argument('[file...]', LINES)
    .option('--trace', 'both logarithms after every observation, not only after the last')
    .action(async (files: string[], { trace = false }: { trace?: boolean }) => {
      const { answerTrial } = await import('../offline/trials.js');
      await run(files, answerTrial(trace), finish);
    });
  example(evaluate, `echo '{"kind": "pairs", "deltas": [0.2, 0.3, 0.25, 0.2, 0.3]}' | fleetmend trial evaluate`);
  const simulate = trial
    .command('simulate')
    .description('how often a rule would be promoted, called harmful or neither, and how soon: plan a trial before running it')
    .argument('[file...]', `${LINES}; with --base-rate or --kind pairs the flags are the only line`)
    .option('--kind <kind>', 'live (sessions, the default) or pairs (replays)')
    .option('--method <method>', 'evidence (the default) or threshold')
    .option('--base-rate <share>', 'live: share of sessions that breach without the rule', number)
    .option('--effect <difference>', 'what the rule takes off that rate, or adds to the score of a run; 0 is a placebo', number)
    .option('--sessions <n>', 'live: sessions after which a candidate is unproven (400)', integer(1))
    .option('--allocation <share>', 'live: share of sessions that see the rule (0.5)', number)
    .option('--deviation <value>', 'pairs: standard deviation of the score of one run (0.1)', number)
    .option('--pairs <n>', 'pairs: how many at most (20)', integer(1))
    .option('--alpha <share>', 'how often a placebo may be promoted (0.05)', number)
    .option('--runs <n>', 'candidates to simulate (2000)', integer(1))
    .option('--seed <n>', 'the same seed gives the same answer (1)', integer(0))
    .action(async (files: string[], flags: SimulateFlags) => {
      const { answerFlags, answerSimulation } = await import('../offline/simulations.js');
      const { baseRate, ...others } = flags;
      const fields = { ...others, base_rate: baseRate };
      const alone = files.length === 0 && (baseRate !== undefined || flags.kind === 'pairs');
      if (alone) await answerFlags(fields);
      else await run(files, answerSimulation(fields), finish);
    });
  example(simulate, 'fleetmend trial simulate --base-rate 0.3 --effect 0.15 --sessions 1000');
}

interface SimulateFlags extends Readonly<Record<string, unknown>> {
  readonly baseRate?: number;
  readonly kind?: string;
}

interface Offline {
  readonly finish: Finish;
  readonly about: string;
  readonly sample: string;
  readonly load: () => Promise<Answerer>;
}

function offline(command: Command, { finish, about, sample, load }: Offline): void {
  command
    .description(`${about} (JSONL in and out, no servers)`)
    .argument('[file...]', LINES)
    .action(async (files: string[]) => run(files, await load(), finish));
  example(command, sample);
}

async function run(files: string[], answer: Answerer, finish: Finish): Promise<void> {
  const { answerLines } = await import('../offline/answer-lines.js');
  finish(await answerLines(files, answer));
}

/** `episodes` is a list of the gateway's and also has the offline `group`. */
function groupOf(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  return known ?? program.command(name).description(`offline: ${name} decisions without servers`);
}
