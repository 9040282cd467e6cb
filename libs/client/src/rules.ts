import type { RuleToolOutput } from '../../contracts/src/rule-tools.js';
import type { RuleCache } from './rule-cache.js';
import type { ReadFor } from './transport.js';

/** The four reads. Each rejects with a FleetmendError when it cannot be answered. */
export class Rules {
  constructor(
    private readonly cache: RuleCache,
    private readonly reader: ReadFor = {},
  ) {}

  /** The scopes that have rules, with a sentence about each. No rule's text. */
  list(reader: ReadFor = {}): Promise<RuleToolOutput<'list'>> {
    return this.cache.read({ tool: 'list', input: {}, reader: this.for(reader) });
  }

  /** The rules of one scope, by its name as `list` shows it; default `global`. */
  read(scope: string | null = null, reader: ReadFor = {}): Promise<RuleToolOutput<'read'>> {
    return this.cache.read({ tool: 'read', input: { scope }, reader: this.for(reader) });
  }

  /** Rules that fit a few words, best first; `limit` 1 to 50, default 10. */
  search(query: string, { limit, ...reader }: ReadFor & { readonly limit?: number } = {}): Promise<RuleToolOutput<'search'>> {
    return this.cache.read({ tool: 'search', input: { query, limit: limit ?? null }, reader: this.for(reader) });
  }

  /** Whether a rule still holds. */
  status(id: string, reader: ReadFor = {}): Promise<RuleToolOutput<'status'>> {
    return this.cache.read({ tool: 'status', input: { rule_id: id }, reader: this.for(reader) });
  }

  private for(reader: ReadFor): ReadFor {
    return { ...this.reader, ...reader };
  }
}
