import { setImmediate as breathe } from 'node:timers/promises';
import { sessionEnded, type Problem, type TurnResult, type TurnsResponse } from '#contracts';
import { InfrastructureError, type OutgoingMessage, type StreamPublisher } from '#messaging';
import { invalidRequest, notStored, ProblemError, problemOf } from '../http/problem.js';
import type { Bodies } from './bodies.js';
import type { Broker } from '../jetstream/broker.js';
import type { ItemKind, Prepared } from './prepare.js';

export const MAX_ITEMS = 10_000;
/** After so long a request of many items lets others have the thread. */
const SLICE_MS = 20;

export type Outcome = 'accepted' | 'rejected' | 'refused';

export interface IngestParts {
  readonly publisher: StreamPublisher;
  readonly broker: Broker;
  readonly bodies: Bodies;
  readonly count: (kind: string, outcome: Outcome, items: number) => void;
}

type Ready = Extract<Prepared, { ok: true }>;

/** Takes what agents say: prepares every item, publishes the good ones as one batch, answers when the broker has stored them. */
export class Ingest {
  constructor(private readonly parts: IngestParts) {}

  /**
   * `body`: one item or a list; `notes`: of the whole body, repeated with every item.
   * @throws ProblemError 422 when no item can be accepted, 503 when some could not be stored; both with the results of every item
   */
  async accept(kind: ItemKind, project: string, body: { value: unknown; notes: readonly string[] }): Promise<TurnsResponse> {
    const prepared = await prepareAll(kind, itemsOf(body.value));
    const ready = prepared.filter((item): item is Ready => item.ok);
    const failures = await this.store(kind, project, ready);
    const results = prepared.map((item) => resultOf(item, body.notes, failures.get(item.index)));
    const accepted = results.filter(({ status }) => status === 'accepted').length;
    const response = { accepted, rejected: results.length - accepted, results };
    this.countOutcomes(kind.event.type, response, failures.size);
    if (failures.size > 0) throw refused(response, failures);
    if (accepted === 0) throw nothingAccepted(response);
    return response;
  }

  /** @throws ProblemError 503 */
  async endSession(project: string, session: string, reason: string | null): Promise<void> {
    const data = JSON.stringify({ session_id: session, ...(reason === null ? {} : { reason }) });
    const failures = await this.publish([{ id: null, subject: sessionEnded.subject(project), data }]);
    const [failure] = failures;
    if (failure !== undefined) throw notStored(`The end of the session is not stored: ${failure.reason}. Send it again.`, {});
  }

  /** Per index of an item that could not be stored: why. */
  private async store(kind: ItemKind, project: string, items: readonly Ready[]): Promise<Map<number, string>> {
    const failures = new Map<number, string>();
    const messages: OutgoingMessage[] = [];
    const published: number[] = [];
    for (const item of items) {
      try {
        const data = await this.eventOf(kind, project, item);
        messages.push({ id: null, subject: kind.event.subject(project), data });
        published.push(item.index);
      } catch (error) {
        if (!(error instanceof InfrastructureError)) throw error;
        failures.set(item.index, 'the database, which keeps large turns, is away');
      }
    }
    for (const { index, reason } of await this.publish(messages)) failures.set(published[index] ?? -1, reason);
    return failures;
  }

  private async publish(messages: readonly OutgoingMessage[]): Promise<{ index: number; reason: string }[]> {
    if (messages.length === 0) return [];
    if (!(await this.parts.broker.whenThere())) return messages.map((_, index) => ({ index, reason: 'the broker is away' }));
    const failures = await this.parts.publisher.publish(messages);
    return failures.map(({ index, reason, full }) => ({ index, reason: full ? `the stream is full (${reason})` : reason }));
  }

  private async eventOf(kind: ItemKind, project: string, { data, session, turn }: Ready): Promise<Buffer | string> {
    if (!kind.spills || data.length <= this.parts.broker.maxEventBytes) return data;
    const reference = await this.parts.bodies.store(project, data);
    return JSON.stringify({ session_id: session, turn_index: turn, body_ref: reference });
  }

  private countOutcomes(kind: string, { accepted, rejected }: TurnsResponse, refusedItems: number): void {
    this.parts.count(kind, 'accepted', accepted);
    this.parts.count(kind, 'refused', refusedItems);
    this.parts.count(kind, 'rejected', rejected - refusedItems);
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (items.length === 0) throw invalidRequest('The list is empty: send at least one item.');
  if (items.length <= MAX_ITEMS) return items;
  throw new ProblemError(
    problemOf('too-large', 413, `The list has ${items.length} items: send at most ${MAX_ITEMS} per request.`),
  );
}

async function prepareAll(kind: ItemKind, items: readonly unknown[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  let since = performance.now();
  for (const [index, item] of items.entries()) {
    prepared.push(kind.prepare(item, index));
    if (performance.now() - since < SLICE_MS) continue;
    await breathe();
    since = performance.now();
  }
  return prepared;
}

function resultOf(item: Prepared, bodyNotes: readonly string[], failure: string | undefined): TurnResult {
  const known = { index: item.index, session_id: item.session, turn_index: item.turn };
  if (!item.ok) return { ...known, status: 'rejected', notes: [], error: item.error };
  if (failure === undefined) return { ...known, status: 'accepted', notes: [...bodyNotes, ...item.notes] };
  return { ...known, status: 'rejected', notes: [], error: storageProblem(failure) };
}

const storageProblem = (reason: string): Problem => problemOf('not-stored', 503, `Not stored: ${reason}. Send it again.`);

function refused(response: TurnsResponse, failures: ReadonlyMap<number, string>): ProblemError {
  const reasons = [...new Set(failures.values())].join('; ');
  const count = `${response.accepted} of ${response.results.length} items are stored, ${failures.size} are not`;
  return notStored(`${count}: ${reasons}. Send them again after Retry-After seconds; sending all again is harmless.`, {
    ...response,
  });
}

function nothingAccepted(response: TurnsResponse): ProblemError {
  const single = response.results.length === 1;
  const within = (index: number, path: string): string => (single ? path : [index, path].filter((part) => part !== '').join('.'));
  const errors = response.results.flatMap(({ index, error }) =>
    (error?.errors ?? [{ path: '', message: error?.detail ?? '' }]).map(({ path, message }) => ({
      path: within(index, path),
      message,
    })),
  );
  const detail = single
    ? (response.results[0]?.error?.detail ?? '')
    : `None of the ${response.results.length} items is valid; see results.`;
  return new ProblemError(problemOf('nothing-accepted', 422, detail, errors), {}, { ...response });
}
