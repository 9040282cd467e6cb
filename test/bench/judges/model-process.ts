import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface ModelFigures {
  readonly requests: number;
  /** The most requests that were being answered at one time. */
  readonly mostAtOnce: number;
}

/** The fake model (model.ts) as a process, so that it takes no time of what is measured. */
export class ModelProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(delayMs: number): Promise<ModelProcess> {
    const child = fork('dist/test/bench/judges/model.js', [String(delayMs)]);
    const [{ url }] = (await once(child, 'message')) as [{ url: string }];
    return new ModelProcess(child, url);
  }

  async figures(): Promise<ModelFigures> {
    this.child.send('figures');
    const [figures] = (await once(this.child, 'message')) as [ModelFigures];
    return figures;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
