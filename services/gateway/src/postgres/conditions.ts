import { instant } from './database.js';

/** Where a page of a list (newest first, then by id) goes on. `at` in microseconds. */
export interface After {
  readonly at: number;
  readonly id: string;
}

/** Collects the conditions of one query with their parameters; what is undefined is no condition. */
export class Conditions {
  readonly parameters: unknown[] = [];
  private readonly clauses: string[] = [];

  /** The placeholder of a further parameter. */
  parameter(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  add(value: unknown, clause: (placeholder: string) => string): this {
    if (value !== undefined) this.clauses.push(clause(this.parameter(value)));
    return this;
  }

  /** A condition without a parameter. */
  require(clause: string | undefined): this {
    if (clause !== undefined) this.clauses.push(clause);
    return this;
  }

  /** `time` and `id` are the columns the list is sorted by; the first comparison is the one that the index serves. */
  after(place: After | null, time: string, id: string): this {
    if (place === null) return this;
    const at = instant(this.parameter(place.at));
    this.clauses.push(`${time} <= ${at} AND (${time} < ${at} OR ${id} > ${this.parameter(place.id)})`);
    return this;
  }

  toString(): string {
    return this.clauses.join(' AND ');
  }
}
