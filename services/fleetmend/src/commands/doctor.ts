import type { Command } from 'commander';
import type { DoctorOptions } from '../doctor/run-doctor.js';
import type { Finish } from '../exit-codes.js';
import { example, withGateway } from './options.js';

export function registerDoctor(program: Command, finish: Finish): void {
  const command = withGateway(program.command('doctor'))
    .description(
      'look at node, settings, broker, database, streams, consumers, outboxes, dead letters and disk; exit 1 when one fails',
    )
    .option('--check', 'instead count the invariants over everything stored; at a quiet moment')
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('../doctor/run-doctor.js');
      finish(await runDoctor(options));
    });
  example(command, 'fleetmend doctor', 'fleetmend doctor --check');
}
