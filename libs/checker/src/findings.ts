/** One broken promise of DATAFLOW. `detail` names project, session and turn, what was expected and what was found. */
export interface Violation {
  readonly invariant: number;
  readonly detail: string;
}

/** Per invariant: a broken loop may break it for every turn, and nobody reads more. */
const SHOWN = 50;

/** What was counted and what was found wrong, bounded whatever the size of the database. */
export class Findings {
  readonly counted: Record<string, number> = {};
  private readonly shown: Violation[] = [];
  private readonly found = new Map<number, number>();

  add(invariant: number, detail: string): void {
    const number = (this.found.get(invariant) ?? 0) + 1;
    this.found.set(invariant, number);
    if (number <= SHOWN) this.shown.push({ invariant, detail });
  }

  count(name: string, number: number): void {
    this.counted[name] = number;
  }

  violations(): Violation[] {
    const more = [...this.found].filter(([, number]) => number > SHOWN);
    const rest = more.map(([invariant, number]) => ({ invariant, detail: `and at least ${number - SHOWN} more like these` }));
    return [...this.shown, ...rest].sort((a, b) => a.invariant - b.invariant);
  }
}

/** How a turn is named in a detail. */
export function turnName({ project, session, t }: { project: string; session: string; t: number }): string {
  return `${project}/${session} turn ${t}`;
}
