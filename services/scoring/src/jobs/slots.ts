interface Waiting {
  readonly project: string;
  readonly begin: () => void;
}

/**
 * Room for evaluations side by side: `most` in all, and `share()` of one project. Whose project has the fewest in progress is next;
 * of one project the first that came.
 */
export class Slots {
  private waiting: Waiting[] = [];
  private readonly running = new Map<string, number>();

  constructor(
    private readonly most: number,
    private readonly share: () => number,
  ) {}

  async run<T>(project: string, evaluation: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.waiting.push({ project, begin });
      this.fill();
    });
    try {
      return await evaluation();
    } finally {
      this.count(project, -1);
      this.fill();
    }
  }

  /** Evaluations of each project that has any, in progress or waiting. */
  get held(): Map<string, number> {
    const held = new Map(this.running);
    for (const { project } of this.waiting) held.set(project, (held.get(project) ?? 0) + 1);
    return held;
  }

  private fill(): void {
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const { project, begin } = next;
      this.waiting = this.waiting.filter((one) => one !== next);
      this.count(project, 1);
      begin();
    }
  }

  private next(): Waiting | undefined {
    const all = [...this.running.values()].reduce((sum, count) => sum + count, 0);
    if (all >= this.most) return undefined;
    const inProgress = ({ project }: Waiting): number => this.running.get(project) ?? 0;
    const open = this.waiting.filter((one) => inProgress(one) < this.share());
    return open.reduce<Waiting | undefined>(
      (best, one) => (best === undefined || inProgress(one) < inProgress(best) ? one : best),
      undefined,
    );
  }

  private count(project: string, change: number): void {
    const count = (this.running.get(project) ?? 0) + change;
    if (count === 0) this.running.delete(project);
    else this.running.set(project, count);
  }
}
