/** What became of the spans of one request. */
export class Tally {
  accepted = 0;
  private readonly reasons = new Map<string, number>();
  private readonly warnings = new Map<string, number>();

  reject(reason: string, spans = 1): void {
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + spans);
  }

  warn(note: string): void {
    this.warnings.set(note, (this.warnings.get(note) ?? 0) + 1);
  }

  get rejected(): number {
    return [...this.reasons.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Spans per reason. */
  get rejectedFor(): ReadonlyMap<string, number> {
    return this.reasons;
  }

  /** Spans per warning. */
  get warned(): ReadonlyMap<string, number> {
    return this.warnings;
  }

  /** For people; empty when there is nothing to say. */
  describe(): string {
    const rejected = this.rejected === 0 ? [] : [`${countOf(this.rejected)} rejected: ${listed(this.reasons)}`];
    const warned = this.warnings.size === 0 ? [] : [`accepted, but changed: ${listed(this.warnings)}`];
    return [...rejected, ...warned].join('. ');
  }
}

export const countOf = (count: number): string => (count === 1 ? '1 span' : `${count} spans`);

/** A hostile body could have any number of reasons. */
const LISTED = 20;

function listed(counts: ReadonlyMap<string, number>): string {
  const shown = [...counts].slice(0, LISTED).map(([reason, count]) => `${reason} (${count})`);
  return [...shown, ...(counts.size > LISTED ? [`and ${counts.size - LISTED} more reasons`] : [])].join('; ');
}
