import { Worker } from 'node:worker_threads';
import { EmbeddingError } from './errors.js';
import { WORKER_SOURCE } from './worker-source.js';

type Answer = { readonly vector: readonly number[] } | { readonly error: string };

/**
 * The thread that holds the model. One text at a time: it answers in order and has one core. A thread that died is replaced by the
 * next text.
 */
export class ModelThread {
  private worker: Worker | undefined;
  private ended = false;

  constructor(private readonly source: string = WORKER_SOURCE) {}

  /** The caller waits for one answer before it asks for the next. Throws EmbeddingError ('model-failed', or 'closed' after `end`). */
  async vectorOf(text: string): Promise<readonly number[]> {
    this.refuseWhenEnded();
    const answer = await ask((this.worker ??= this.start()), text);
    this.refuseWhenEnded();
    if ('error' in answer) throw new EmbeddingError('model-failed', `the local embedding model failed: ${answer.error}`);
    return answer.vector;
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.worker?.terminate();
  }

  private refuseWhenEnded(): void {
    if (this.ended) throw new EmbeddingError('closed', 'the local embedder was closed');
  }

  private start(): Worker {
    const worker = new Worker(this.source, { eval: true, workerData: { from: import.meta.url } });
    const forget = (): void => {
      if (this.worker === worker) this.worker = undefined;
    };
    // Without a listener an error in the thread would end the process.
    worker.on('error', forget);
    worker.on('exit', forget);
    return worker;
  }
}

function ask(worker: Worker, text: string): Promise<Answer> {
  return new Promise((resolve) => {
    const settle = (answer: Answer): void => {
      worker.off('message', settle);
      worker.off('error', failed);
      worker.off('exit', ended);
      resolve(answer);
    };
    const failed = (error: Error): void => settle({ error: error.message });
    const ended = (): void => settle({ error: 'its thread has ended' });
    worker.on('message', settle);
    worker.on('error', failed);
    worker.on('exit', ended);
    worker.postMessage(text);
  });
}
