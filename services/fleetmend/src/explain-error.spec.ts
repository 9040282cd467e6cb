import { describe, expect, it } from '@jest/globals';
import { CommanderError } from 'commander';
import { SettingsError } from '#config';
import { EmbeddedError } from '#embedded';
import { explainError } from './explain-error.js';
import { CommandError, exitCodes } from './exit-codes.js';

const coded = (code: string, message = 'text'): Error => Object.assign(new Error(message), { code });

describe('an error', () => {
  it.each<[string, unknown, number]>([
    ['of a command keeps its code', new CommandError(exitCodes.notFound, 'x'), 3],
    ['of the settings is a usage error', new SettingsError('x'), 2],
    ['of an unreachable server', new EmbeddedError('unreachable', 'x'), 5],
    ['of a used data folder is a finding', new EmbeddedError('data-dir-in-use', 'x'), 1],
    ['of a refused connection', coded('ECONNREFUSED'), 5],
    ['of a missing file', coded('ENOENT'), 3],
    ['of a file that may not be read', coded('EACCES'), 4],
    ['of any other kind is a finding', new Error('x'), 1],
    ['that is no Error is a finding', 'text', 1],
  ])('%s', (_, error, exitCode) => {
    expect(explainError(error).exitCode).toBe(exitCode);
  });

  it('of commander was said already; asked-for help is no error', () => {
    expect(explainError(new CommanderError(1, 'commander.unknownOption', 'x'))).toEqual({ exitCode: 2, message: null });
    expect(explainError(new CommanderError(0, 'commander.helpDisplayed', 'x'))).toEqual({ exitCode: 0, message: null });
  });

  it('never has an empty line', () => {
    expect(explainError(coded('ECONNREFUSED', '')).message).toBe('ECONNREFUSED');
  });

  it('of a missing table says what to do', () => {
    expect(explainError(coded('42P01', 'relation "x" does not exist')).message).toContain('fleetmend migrate');
  });
});
