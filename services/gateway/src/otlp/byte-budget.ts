/**
 * Bytes that may be held at once. Who asks with `tryTake` is told at once; who asks with `take` waits, first come, first served.
 * `reserved` is kept for small requests: large ones cannot fill it.
 */
export class ByteBudget {
  private held = 0;
  private readonly waiting: { readonly bytes: number; readonly go: () => void }[] = [];

  constructor(
    private readonly total: number,
    private readonly reserved = 0,
  ) {}

  get inUse(): number {
    return this.held;
  }

  /** False when it is spent. */
  tryTake(bytes: number, large: boolean): boolean {
    if (this.held + bytes > this.total - (large ? this.reserved : 0)) return false;
    this.held += bytes;
    return true;
  }

  /** More than the total counts as the total: it is then held alone. */
  async take(bytes: number): Promise<void> {
    const wanted = Math.min(bytes, this.total);
    if (this.waiting.length > 0 || !this.tryTake(wanted, false))
      await new Promise<void>((go) => this.waiting.push({ bytes: wanted, go }));
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.held -= Math.min(bytes, this.total);
    for (let next = this.waiting[0]; next !== undefined && this.tryTake(next.bytes, false); next = this.waiting[0]) {
      this.waiting.shift();
      next.go();
    }
  }
}
