import type { Command } from 'commander';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import type { Finish } from '../exit-codes.js';
import { example, seconds, withGateway } from './options.js';

export interface RecordingFlags {
  readonly withRewards?: boolean;
  readonly tools?: string;
  readonly domain?: string;
}

type ImportFlags = GatewayOptions & FormatOption & RecordingFlags & { readonly project?: string; readonly retryS: number };

/** How recordings become turns; the same for `turns import` and `up --import`. */
export function withRecordings(command: Command): Command {
  return command
    .option('--with-rewards', 'post the reward of each tau-bench conversation as outcome_correct of its last turn')
    .option('--tools <file>', 'tool catalogue (JSON list) for recordings that have none')
    .option('--domain <name>', 'part of the session ids of tau-bench rows, for example airline');
}

export function registerTurns(program: Command, finish: Finish): void {
  const turns = program.command('turns').description('turns of agents');
  example(
    withRecordings(withGateway(turns.command('import')))
      .description(
        'import recorded conversations and traces: JSONL of turn.ended, OTLP (JSON, protobuf), exports of OpenAI Agents and Langfuse, tau-bench (JSONL or JSON), SWE-agent .traj; importing twice changes nothing',
      )
      .argument('<file...>', 'files, or - for JSONL on standard input')
      .option('--project <project>', 'make sure that the key is of this project')
      .option('--retry-s <seconds>', 'how long to go on while the gateway is away or full', seconds, 60)
      .action(async (files: string[], flags: ImportFlags) => {
        const { runImport } = await import('../recordings/run-import.js');
        finish(await runImport(files, flags));
      }),
    'fleetmend turns import conversations.jsonl --tools tools.json --with-rewards',
  );
}
