import { Command } from 'commander';
import { registerCalibrate } from './commands/calibrate.js';
import { registerCosts } from './commands/costs.js';
import { registerDead } from './commands/dead.js';
import { registerDoctor } from './commands/doctor.js';
import { registerEvalSet } from './commands/evalset.js';
import { registerKeys } from './commands/keys.js';
import { registerLists } from './commands/lists.js';
import { registerMetrics } from './commands/metrics.js';
import { registerMigrate } from './commands/migrate.js';
import { registerNotices } from './commands/notices.js';
import { registerOffline } from './commands/offline.js';
import { registerRegress } from './commands/regress.js';
import { registerRules } from './commands/rules.js';
import { registerSessions } from './commands/sessions.js';
import { registerSettings } from './commands/settings.js';
import { registerSettle } from './commands/settle.js';
import { registerTraces } from './commands/traces.js';
import { registerTurns } from './commands/turns.js';
import { registerUp } from './commands/up.js';
import { registerValidation } from './commands/validation.js';
import type { Finish } from './exit-codes.js';
import { writeErr } from './output/write.js';

const ABOUT = 'Fleetmend: watches the turns of LLM agents, and says once what went wrong.';
const CODES = '\nExit codes: 0 ok, 1 finding, 2 usage or validation, 3 not found, 4 not allowed, 5 unreachable.';

/** The whole command line. Every command loads what it needs when it runs, so that help and the offline ones start fast. */
export function createProgram(version: string, finish: Finish): Command {
  const program = new Command('fleetmend')
    .description(ABOUT)
    .version(version)
    .showHelpAfterError('(add --help for what there is)')
    .exitOverride()
    // Options belong to the command that they follow: `calibrate` and `calibrate noise` have some of the same names.
    .enablePositionalOptions()
    .configureOutput({ writeErr })
    .addHelpText('after', `${CODES}\n\nExample:\n  $ fleetmend up`);
  const registrations = [
    registerUp,
    registerDoctor,
    registerMigrate,
    registerTurns,
    registerSessions,
    registerTraces,
    registerNotices,
    registerLists,
    registerRules,
    registerSettle,
    registerEvalSet,
    registerKeys,
    registerSettings,
    registerDead,
    registerRegress,
    registerValidation,
    registerCalibrate,
    registerCosts,
    registerMetrics,
    registerOffline,
  ];
  for (const register of registrations) register(program, finish);
  return program;
}
