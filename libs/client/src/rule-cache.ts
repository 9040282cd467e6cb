import type { RuleTool, RuleToolOutput } from '../../contracts/src/rule-tools.js';
import type { AnyAnswer, Question, Transport } from './transport.js';

interface Entry {
  readonly answer: AnyAnswer;
  readonly tag: string | null;
  readonly askedAt: number;
  readonly epoch: number;
}

interface Asking {
  readonly answer: Promise<AnyAnswer>;
  /** What was known when it was asked. */
  readonly version: number;
  readonly epoch: number;
}

/** How long an answer is believed: where changes are told, and where nobody tells of them. What is told is told once, at most. */
const BELIEVED_MS = { told: 60_000, untold: 1_000 };
/** Answers of the sessions that asked last; an older one is asked for again. */
const KEPT = 5_000;

/**
 * Answers by session and question. The first read of a question by a session always reaches the gateway, which records it; later ones are
 * answered from here until the rules change.
 */
export class RuleCache {
  private readonly entries = new Map<string, Entry>();
  private readonly asking = new Map<string, Asking>();
  /** The newest version that anything told of. */
  private version = 0;
  /** Raised when changes may have been missed: nothing from before is believed. */
  private epoch = 0;

  constructor(private readonly transport: Transport) {
    transport.onChange((version) => {
      if (version === null) this.epoch += 1;
      else this.version = Math.max(this.version, version);
    });
  }

  async read<Tool extends RuleTool>(question: Question<Tool>): Promise<RuleToolOutput<Tool>> {
    const key = JSON.stringify([question.reader.session ?? null, question.tool, question.input]);
    const known = this.entries.get(key);
    const answer = known !== undefined && this.holds(known) ? known.answer : await this.current(key, question);
    // A copy: what a caller does to it must not reach the next one.
    return structuredClone(answer) as RuleToolOutput<Tool>;
  }

  private holds({ answer, askedAt, epoch }: Entry): boolean {
    const believedMs = this.transport.told ? BELIEVED_MS.told : BELIEVED_MS.untold;
    return performance.now() - askedAt < believedMs && epoch === this.epoch && answer.version >= this.version;
  }

  /** Those who ask the same at the same time share one question, unless the rules have changed since it was asked. */
  private current(key: string, question: Question): Promise<AnyAnswer> {
    const shared = this.asking.get(key);
    if (shared?.version === this.version && shared.epoch === this.epoch) return shared.answer;
    const asked: Asking = { answer: this.ask(key, question), version: this.version, epoch: this.epoch };
    this.asking.set(key, asked);
    const done = (): void => {
      if (this.asking.get(key) === asked) this.asking.delete(key);
    };
    asked.answer.then(done, done);
    return asked.answer;
  }

  private async ask(key: string, question: Question): Promise<AnyAnswer> {
    const known = this.entries.get(key);
    const [askedAt, epoch] = [performance.now(), this.epoch];
    const fresh = await this.transport.ask(question, known?.tag ?? null);
    // A tag is shown with the answer that it came with: that one is what still holds.
    const entry = fresh.same && known !== undefined ? { ...known, askedAt, epoch } : { ...wholeOf(fresh), askedAt, epoch };
    this.version = Math.max(this.version, entry.answer.version);
    this.keep(key, entry);
    return entry.answer;
  }

  private keep(key: string, entry: Entry): void {
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (this.entries.size <= KEPT) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }
}

function wholeOf(fresh: Awaited<ReturnType<Transport['ask']>>): Pick<Entry, 'answer' | 'tag'> {
  if (fresh.same) throw new Error('the gateway says that nothing has changed, though nothing was known');
  return fresh;
}
