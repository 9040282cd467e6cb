import { failureModes, modeNames, type FailureMode, type ModeName } from './modes.js';

/** What a rule does to the failure that it is about. */
export type Effect = 'helpful' | 'placebo' | 'harmful';

export interface FleetRule {
  readonly id: string;
  readonly scope: string;
  readonly text: string;
}

/** How an agent comes to rules: over NATS, HTTP or in memory. One per session, since what a session may see depends on it. */
export interface RuleReader {
  list(): Promise<readonly { readonly scope: string }[]>;
  read(scope: string): Promise<readonly Pick<FleetRule, 'id' | 'text'>[]>;
  search(query: string): Promise<readonly Pick<FleetRule, 'id' | 'text'>[]>;
}

/** The text of a rule about a failure. */
export function ruleText(mode: ModeName, effect: Effect): string {
  const { advice, badAdvice, idleAdvice } = failureModes[mode];
  return { helpful: advice, placebo: idleAdvice, harmful: badAdvice }[effect];
}

/** What agents of this fleet make of a rule, whatever is written around it; null when it says nothing to them. */
export function meaningOf(text: string): { readonly mode: ModeName; readonly effect: Effect } | null {
  for (const mode of modeNames) {
    const { advice, badAdvice }: FailureMode = failureModes[mode];
    if (text.includes(advice)) return { mode, effect: 'helpful' };
    if (text.includes(badAdvice)) return { mode, effect: 'harmful' };
  }
  return null;
}

/** Rules that every session sees, in memory. */
export function memoryRules(rules: readonly FleetRule[]): RuleReader {
  const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
  return {
    list: () => Promise.resolve([...new Set(rules.map(({ scope }) => scope))].sort().map((scope) => ({ scope }))),
    read: (scope) => Promise.resolve(rules.filter((rule) => rule.scope === scope)),
    search: (query) => {
      const wanted = new Set(words(query));
      return Promise.resolve(rules.filter(({ text }) => words(text).some((word) => wanted.has(word))));
    },
  };
}

export const noRules = memoryRules([]);
