import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { CapturedCase, EvalCaseDetail, RemovedCase } from '#contracts';
import { CommandError, exitCodes } from '../exit-codes.js';
import { openGateway, type GatewayOptions } from '../http/gateway.js';
import { answer, type FormatOption } from '../output/answer.js';
import { when } from '../output/table.js';
import { caseText } from './text.js';

export type EvalSetOptions = GatewayOptions & FormatOption;

export interface CaptureOptions extends EvalSetOptions {
  readonly kind: 'failure' | 'win';
  readonly signature?: readonly string[];
  readonly notes?: string;
  readonly input?: string;
}

export interface AttachOptions extends EvalSetOptions {
  readonly notes?: string;
}

const pathOf = (id: string): string => `/v1/evalset/${encodeURIComponent(id)}`;

export async function showCase(id: string, options: EvalSetOptions): Promise<void> {
  const found = await (await openGateway(options)).get<EvalCaseDetail>(pathOf(id));
  await answer(found, options, (one) => caseText(one, when));
}

export async function captureTurn(session: string, turn: string, options: CaptureOptions): Promise<void> {
  const { kind, signature, notes, input } = options;
  const body = {
    ...{ session_id: session, turn_index: Number(turn), kind, signature, notes },
    ...(input === undefined ? {} : { replay_input: await inputOf(input) }),
  };
  const captured = await (await openGateway(options)).call<CapturedCase>('POST', '/v1/evalset', body);
  await answer(captured, options, ({ result, case: { id, replayable }, evicted, version }) => {
    const what = result === 'known' ? `${id} was in the set already` : `${id} is captured`;
    const label = replayable ? '' : '; it has no input, so it cannot be run again (evalset attach)';
    const room = evicted.length === 0 ? '' : `; made room: ${evicted.join(', ')}`;
    return `${what} (version ${version})${label}${room}`;
  });
}

export async function attachInput(id: string, input: string, options: AttachOptions): Promise<void> {
  const body = { replay_input: await inputOf(input), notes: options.notes };
  const attached = await (await openGateway(options)).call<EvalCaseDetail>('POST', `${pathOf(id)}/input`, body);
  await answer(attached, options, ({ version }) => `${id} can be run again (version ${version})`);
}

export async function removeCase(id: string, options: EvalSetOptions): Promise<void> {
  const removed = await (await openGateway(options)).call<RemovedCase>('DELETE', pathOf(id));
  await answer(removed, options, ({ version }) => `${id} is removed (version ${version})`);
}

/** JSON, `@FILE` with JSON in it, or `-`. @throws CommandError 2 when it is no JSON */
async function inputOf(given: string): Promise<unknown> {
  const from = given === '-' ? 'standard input' : given;
  const json = given === '-' ? await text(process.stdin) : given.startsWith('@') ? await readFile(given.slice(1), 'utf8') : given;
  try {
    return JSON.parse(json);
  } catch (error) {
    const advice = given.startsWith('@') || given === '-' ? '' : '; a text needs quotes of its own, a file an @ before its name';
    throw new CommandError(exitCodes.usage, `${from} is no JSON: ${(error as Error).message}${advice}`, { cause: error });
  }
}
