import { readFile } from 'node:fs/promises';
import { CommandError, exitCodes } from '../exit-codes.js';

/** The tool catalogue of `--tools FILE`: a JSON list, in OpenAI's or the plain shape. */
export async function readTools(file: string | undefined): Promise<readonly unknown[] | undefined> {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(exitCodes.notFound, `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const value = jsonOf(text);
  if (Array.isArray(value)) return value as unknown[];
  throw new CommandError(exitCodes.usage, `${file} is no JSON list of tools: [{"name": …, "parameters": …}, …]`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
