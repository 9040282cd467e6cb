import type { TurnInput } from '#recordings';
import { runSession, type FleetOptions, type RuleReader } from '#testing/fleet';

/** Reads rules from the gateway over HTTP, as one session. */
export function httpRules(url: string, session: string): RuleReader {
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}${path}`, { headers: { 'fleetmend-session': session } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  return {
    list: async () => (await get('/v1/rules'))['scopes'] as { scope: string }[],
    read: async (scope) => textsOf(await get(`/v1/rules/scopes/${scope}`)),
    search: () => Promise.resolve([]),
  };
}

interface Shown {
  readonly id: string;
  readonly rule: string;
}

function textsOf(answer: Record<string, unknown>): { id: string; text: string }[] {
  const { rules, provisional } = answer as { rules: Shown[]; provisional: { rules: Shown[] } | null };
  return [...rules, ...(provisional?.rules ?? [])].map(({ id, rule }) => ({ id, text: rule }));
}

/** Sessions of a fleet, so many at once; each turn is handed on as it ends. Resolves when all have ended. */
export async function runFleet(
  url: string,
  sessions: readonly string[],
  options: FleetOptions,
  { atOnce, publish }: { readonly atOnce: number; readonly publish: (turn: TurnInput) => Promise<void> },
): Promise<void> {
  const left = [...sessions];
  const worker = async (): Promise<void> => {
    for (let session = left.shift(); session !== undefined; session = left.shift())
      for await (const turn of runSession(session, httpRules(url, session), options)) await publish(turn);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
