import { Option, type Command } from 'commander';
import type { EvalCaseSummary } from '#contracts';
import type { AttachOptions, CaptureOptions, EvalSetOptions } from '../evalset/run-evalset.js';
import type { Finish } from '../exit-codes.js';
import { printList, type ListOptions } from './lists.js';
import { example, names, withGateway, withPages } from './options.js';

const INPUT = 'JSON, @FILE, or - for standard input';

export function registerEvalSet(program: Command, finish: Finish): void {
  const evalset = program.command('evalset').description('cases: sessions kept as examples, to be run again or to label');
  registerReads(evalset);
  registerChanges(evalset);
  registerFiles(evalset, finish);
}

function registerReads(evalset: Command): void {
  example(
    withPages(withGateway(evalset.command('list').description('cases, newest first, without their inputs')))
      .addOption(new Option('--kind <kind>', 'only of this kind').choices(['failure', 'win']))
      .option('--signature <signature>', 'only with this signature, for example breach:tool_correctness')
      .addOption(new Option('--replayable <yes>', 'only those that can be run again, or cannot').choices(['true', 'false']))
      .action(async (options: ListOptions) => {
        const { caseColumns } = await import('../evalset/text.js');
        const filters = ['kind', 'signature', 'replayable'];
        await printList<EvalCaseSummary>({ path: '/v1/evalset', filters, none: 'no cases', columns: caseColumns }, options);
      }),
    'fleetmend evalset list --kind failure --replayable true',
  );
  example(
    withGateway(evalset.command('show').description('one case with its input'))
      .argument('<id>', 'the id that `evalset list` shows')
      .action(async (id: string, options: EvalSetOptions) => (await import('../evalset/run-evalset.js')).showCase(id, options)),
    'fleetmend evalset show c-0123456789abcdef01234567',
  );
}

function registerChanges(evalset: Command): void {
  example(
    withGateway(
      evalset.command('capture').description('keep a turn with the scores of its report; once per session, signature and kind'),
    )
      .argument('<session>', 'the id of the session')
      .argument('<turn>', 'the index of the turn')
      .addOption(new Option('--kind <kind>', 'whether it went wrong or well').choices(['failure', 'win']).makeOptionMandatory())
      .option('--signature <a,b>', 'the problems it stands for (default: those that stand after the turn)', names)
      .option('--notes <text>', 'what is to be known about it')
      .option('--input <input>', `what a replay needs: ${INPUT} (default: the end state of the turn)`)
      .action(async (session: string, turn: string, options: CaptureOptions) =>
        (await import('../evalset/run-evalset.js')).captureTurn(session, turn, options),
      ),
    'fleetmend evalset capture support-42 3 --kind win --notes "refunded the right order"',
  );
  example(
    withGateway(evalset.command('attach').description('give a case the input that makes it replayable'))
      .argument('<id>', 'the id that `evalset list` shows')
      .argument('<input>', INPUT)
      .option('--notes <text>', 'in place of its notes')
      .action(async (id: string, input: string, options: AttachOptions) =>
        (await import('../evalset/run-evalset.js')).attachInput(id, input, options),
      ),
    'fleetmend evalset attach c-0123456789abcdef01234567 @task.json',
  );
  example(
    withGateway(evalset.command('remove').description('take a case out of the set'))
      .argument('<id>', 'the id that `evalset list` shows')
      .action(async (id: string, options: EvalSetOptions) => (await import('../evalset/run-evalset.js')).removeCase(id, options)),
    'fleetmend evalset remove c-0123456789abcdef01234567',
  );
}

function registerFiles(evalset: Command, finish: Finish): void {
  example(
    withGateway(evalset.command('export').description('write the whole set as JSON Lines, oldest first'))
      .argument('<file>', 'a file, or - for standard output')
      .action(async (file: string, options: EvalSetOptions) => (await import('../evalset/files.js')).exportCases(file, options)),
    'fleetmend evalset export cases.jsonl',
  );
  example(
    withGateway(evalset.command('import').description('take cases into the set; doing it again changes nothing'))
      .argument('<file>', 'JSON Lines as `evalset export` writes them, or - for standard input')
      .action(async (file: string, options: EvalSetOptions) =>
        finish(await (await import('../evalset/files.js')).importCases(file, options)),
      ),
    'fleetmend evalset import cases.jsonl',
  );
}
