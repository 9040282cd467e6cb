import { keepRecent } from './keep-recent.js';

/** Between two looks for a verifier of a project that has none: a request that nobody answers is cheap, but not for every turn. */
const LOOK_MS = 5_000;
/** Projects whose last look is remembered; one that is forgotten is looked for once more. */
const LOOKS_MAX = 10_000;

/**
 * Which projects have a verifier. One that has answered before is asked about every turn, and waited for when it is away; for
 * the others one turn in a while is asked about, to find out whether a verifier has come.
 */
export class Verifiers {
  private known: ReadonlySet<string> = new Set();
  private readonly lookedAt = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  shouldAsk(project: string): boolean {
    if (this.known.has(project)) return true;
    const now = this.now();
    if (now - (this.lookedAt.get(project) ?? -Infinity) < LOOK_MS) return false;
    keepRecent(this.lookedAt, project, now, LOOKS_MAX);
    return true;
  }

  isKnown(project: string): boolean {
    return this.known.has(project);
  }

  /** Projects whose verifier has answered lately, as the table says. */
  refresh(projects: readonly string[]): void {
    this.known = new Set(projects);
  }

  answered(project: string): void {
    if (!this.known.has(project)) this.known = new Set([...this.known, project]);
  }
}
