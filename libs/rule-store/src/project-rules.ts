import { NoveltyIndex, RuleLibrary, type Applicability, type ComparedRule, type ReadableRule } from '#domain/rules';

/** A stored rule, as readers and proposals need it. `seq`: the version of the project at its last change. */
export type StoredRule = ReadableRule & ComparedRule & { readonly seq: number; readonly applicability: Applicability | null };

/** What changed since a version. */
export interface RuleChanges {
  readonly version: number;
  readonly rules: readonly StoredRule[];
  readonly descriptions: readonly { readonly scope: string; readonly description: string }[];
}

/** The rules of one project in memory, at a version: to be read, and to be compared with proposals. */
export class ProjectRules {
  readonly library = new RuleLibrary<StoredRule>();
  readonly novelty = new NoveltyIndex<StoredRule>();
  #version = 0;
  #live = 0;
  readonly #states = new Map<string, boolean>();

  get version(): number {
    return this.#version;
  }

  /** Rules that are active or candidates. */
  get live(): number {
    return this.#live;
  }

  /** Older changes than those that are known do nothing: two that read at once may bring the same. */
  apply({ version, rules, descriptions }: RuleChanges): void {
    for (const rule of rules) {
      if (rule.seq <= this.#version) continue;
      this.library.set(rule);
      this.novelty.set(rule);
      this.#count(rule);
    }
    for (const { scope, description } of descriptions) this.library.describe(scope, description);
    this.#version = Math.max(this.#version, version);
  }

  #count({ id, status }: StoredRule): void {
    const is = status !== 'retired';
    this.#live += Number(is) - Number(this.#states.get(id) ?? false);
    this.#states.set(id, is);
  }
}
