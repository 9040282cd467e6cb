import { describe, expect, it } from '@jest/globals';
import { QueryFailedError, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { InfrastructureError } from '#messaging';
import { classifyDatabaseError, isWorthRerunning } from './errors.js';

const coded = (code: string): Error => Object.assign(new Error(`code ${code}`), { code });
const failed = (cause: Error): Error => new QueryFailedError('SELECT 1', [], cause);

describe('a database error', () => {
  it.each<[string, Error]>([
    ['the server ends the connection', failed(coded('57P01'))],
    ['the server is starting up', coded('57P03')],
    ['nobody listens', coded('ECONNREFUSED')],
    ['the connection broke', new Error('Connection terminated unexpectedly')],
    ['the connection ended between two queries', new QueryRunnerAlreadyReleasedError()],
    ['the disk is full', coded('53100')],
  ])('says that the database is away: %s', (_, error) => {
    expect(classifyDatabaseError(error)).toBeInstanceOf(InfrastructureError);
  });
  it.each<[string, Error]>([
    ['a constraint', failed(coded('23502'))],
    ['a syntax error', coded('42601')],
    ['something of our own', new Error('no')],
  ])('stays what it is: %s', (_, error) => {
    expect(classifyDatabaseError(error)).toBe(error);
  });
  it.each(['40001', '40P01', '23505', '55P03'])('is worth running the transaction again: %s', (code) => {
    expect(isWorthRerunning(failed(coded(code)))).toBe(true);
    expect(isWorthRerunning(failed(coded('22P02')))).toBe(false);
  });
});
