import { InvalidArgumentError, Option, type Command } from 'commander';
import { formats } from '../output/answer.js';

/** Shows an example at the end of a command's help. */
export function example(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExample:\n${lines.map((line) => `  $ ${line}`).join('\n')}`);
}

export function withFormat(command: Command): Command {
  return command.addOption(
    new Option('--format <format>', 'json, or pretty for people (default: pretty on a terminal, else json)').choices(formats),
  );
}

/** Options of every command that asks the gateway. */
export function withGateway(command: Command): Command {
  return withFormat(command)
    .option('--url <url>', 'where the gateway answers (default: FLEETMEND_URL, a running `fleetmend up`, http://127.0.0.1:4320)')
    .option('--key <key>', 'API key (default: FLEETMEND_KEY; none is needed on this machine while no key exists)');
}

/** Options of every list that comes in pages. */
export function withPages(command: Command): Command {
  return command
    .option('--limit <n>', 'at most this many (1 to 200)', integer(1, 200))
    .option('--cursor <cursor>', '`next_cursor` of the page before')
    .option('--all', 'every page, as one list');
}

/** Reads a whole number from `least` to `most`. */
export function integer(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It has to be a whole number ${range}.`);
  };
}

export function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It has to be a number.');
}

export function seconds(text: string): number {
  const value = number(text);
  if (value >= 0) return value;
  throw new InvalidArgumentError('It has to be a number of seconds, 0 or more.');
}

/** `a,b` as a list. */
export function names(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
