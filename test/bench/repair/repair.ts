// npm run bench:repair: how long a proposal takes as rules grow, and how soon a breach has become a rule that agents can read.
import { mkdtempSync, rmSync } from 'node:fs';
import { readShared, sharedIsThere } from '../../support/root.js';
import { machine, startStack } from '../stack.js';
import { distinctTexts } from './texts.js';
import { breachToCandidate } from './latency.js';
import { propose } from './proposals.js';

const RULES = 10_000;
const WINDOW = 200;
const WINDOWS = [100, 1_000, 5_000, RULES - WINDOW];
const BREACHES = 60;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** The texts of a recorded playbook first, then others that no two have enough words in common. */
function texts(): string[] {
  const playbook = sharedIsThere('the playbook') ? readShared('rules/appworld_online_trained_playbook.txt') : '';
  const bullets = playbook.split('\n').flatMap((line) => /^\[\w+-\d+\] (.+)$/.exec(line)?.[1] ?? []);
  return [...bullets, ...distinctTexts(RULES)];
}

async function withStack(work: (stack: Awaited<ReturnType<typeof startStack>>) => Promise<void>): Promise<void> {
  const dir = mkdtempSync('/var/tmp/fleetmend-bench-');
  const stack = await startStack(dir);
  try {
    await work(stack);
  } finally {
    await stack.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

print(`Machine: ${machine()}\n`);
await withStack(async ({ databaseUrl }) => {
  const { windows, added, covered, repeats } = await propose(databaseUrl, texts(), WINDOWS, WINDOW);
  print(
    `Proposals: ${added} added, ${covered} refused as said already; of ${repeats.proposed} exact repeats ${repeats.refused} refused.\n`,
  );
  print('| live rules | median of a proposal (ms) |\n|---|---|');
  for (const { rules, medianMs } of windows) print(`| ${rules} | ${medianMs.toFixed(2)} |`);
});
await withStack(async (stack) => {
  const times = await breachToCandidate(stack, BREACHES);
  const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0);
  print(
    `\nFrom a breach published to its candidate readable: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, worst ${at(1)} ms over ${times.length} breaches.`,
  );
});
