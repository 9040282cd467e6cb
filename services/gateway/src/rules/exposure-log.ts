import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ruleExposed, type RuleExposed } from '#contracts';
import type { Exposure } from '#domain/rules';
import type { OutgoingMessage, StreamPublisher } from '#messaging';

/** A read of a named session. `now`: milliseconds. */
export interface ExposedRead {
  readonly project: string;
  readonly session: string;
  readonly turn: number | null;
  readonly kind: 'read' | 'search';
  readonly version: number;
  readonly exposure: Exposure;
  readonly now: number;
}

interface Waiting {
  readonly message: OutgoingMessage;
  readonly settle: (stored: boolean) => void;
}

const MICROS_PER_MILLI = 1_000;
/** Longer than this no agent waits for its advice. What is stored later all the same does no harm: both arms are late alike. */
const PATIENCE_MS = 2_000;

/** Publishes `rule.exposed`; reads that happen at once share one publish. */
export class ExposureLog {
  private waiting: Waiting[] = [];

  constructor(
    private readonly publisher: StreamPublisher,
    private readonly broker: { readonly isThere: boolean },
    /** Why reads cannot be recorded just now; null: they can be again. */
    private readonly onTrouble: (trouble: string | null) => void = () => undefined,
  ) {}

  /** Whether it is stored. Never throws, and never waits for a broker that is known to be away. */
  async record(read: ExposedRead): Promise<boolean> {
    if (!this.broker.isThere) {
      this.tell('the broker is away');
      return false;
    }
    const message = messageOf(read);
    return new Promise((settle) => {
      this.waiting.push({ message, settle });
      if (this.waiting.length === 1) setImmediate(() => void this.flush());
    });
  }

  private async flush(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    const stop = new AbortController();
    const late = sleep(PATIENCE_MS, null, { signal: stop.signal }).catch(() => null);
    const failures = await Promise.race([this.publisher.publish(batch.map(({ message }) => message)), late]);
    stop.abort();
    const failed = new Set((failures ?? []).map(({ index }) => index));
    const reason = failures === null ? `no acknowledgement within ${PATIENCE_MS} ms` : failures[0]?.reason;
    this.tell(reason ?? null);
    batch.forEach(({ settle }, index) => settle(failures !== null && !failed.has(index)));
  }

  private tell(reason: string | null): void {
    this.onTrouble(reason === null ? null : `reads cannot be recorded, so agents are shown no candidates: ${reason}`);
  }
}

function messageOf({ project, session, turn, kind, version, exposure, now }: ExposedRead): OutgoingMessage {
  const payload: RuleExposed = {
    read_id: randomUUID(),
    session_id: session,
    turn_index: turn,
    kind,
    version,
    rule_ids: [...exposure.rule_ids],
    withheld_ids: [...exposure.withheld_ids],
    at: now * MICROS_PER_MILLI,
  };
  return { id: payload.read_id, subject: ruleExposed.subject(project), data: JSON.stringify(payload) };
}
