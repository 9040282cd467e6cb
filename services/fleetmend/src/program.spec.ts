import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { explainError } from './explain-error.js';
import { createProgram } from './program.js';

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : [...command.commands.flatMap(leaves)];
}

function help(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

async function codeOf(...args: string[]): Promise<number> {
  const program = createProgram('0', () => undefined);
  program.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  for (const command of leaves(program)) command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return explainError(error).exitCode;
  }
}

describe('the command line', () => {
  const commands = leaves(createProgram('0', () => undefined));

  it.each(commands.map((command): [string, Command] => [command.name(), command]))(
    '%s explains itself with an example',
    (_, command) => {
      expect(help(command)).toContain('Example:\n  $ ');
      expect(command.description()).not.toBe('');
    },
  );

  it('has these commands', () => {
    const names = createProgram('0', () => undefined).commands.map((command) => command.name());
    expect(names.sort()).toEqual(
      ['up', 'doctor', 'migrate', 'turns', 'notices', 'sessions', 'episodes', 'incidents', 'journal', 'keys', 'settings']
        .concat([
          'dead',
          'gate',
          'notice',
          'scope',
          'rules',
          'sanitize',
          'score',
          'calibrate',
          'costs',
          'metrics',
          'trial',
          'traces',
          'candidates',
        ])
        .concat(['settle', 'regress', 'evalset', 'settle-validation', 'watches', 'readers'])
        .sort(),
    );
  });

  it.each([
    [['bogus']],
    [[]],
    [['turns', 'import']],
    [['sessions', '--limit', '0']],
    [['sessions', '--limit', 'x']],
    [['sessions', '--format', 'xml']],
    [['traces', '--state', 'lost']],
    [['keys', 'create']],
    [['dead', 'redrive', 'x']],
    [['gate', 'replay', '--gate-window', 'wide']],
    [['turns', 'import', 'x', '--retry-s', '-1']],
    [['up', '--log-level', 'loud']],
    [['rules', 'retire', 'r-1']],
    [['rules', 'withdraw']],
    [['rules', 'restore', 'r-1', '--all']],
    [['rules', 'search', 'x', '--limit', '51']],
    [['settle']],
    [['settle', 's', '--timeout', '291']],
    [['episodes', 'retry']],
    [['trial', 'simulate', '--base-rate', '2']],
    [['trial', 'simulate', '--runs', '0']],
  ])('answers %j with exit code 2', async (args) => {
    expect(await codeOf(...args)).toBe(2);
  });

  it.each([[['--help']], [['--version']], [['turns', 'import', '--help']], [['help', 'up']]])(
    'answers %j with 0',
    async (args) => {
      expect(await codeOf(...args)).toBe(0);
    },
  );
});
