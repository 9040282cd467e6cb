import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { projectSettings } from '#contracts';
import { contentHash } from '#domain/ids';
import { normalRuleText } from '#domain/rules';
import type { RuleDraft } from '#domain/repair';
import { createDataSource, UnitOfWork } from '#persistence';
import { RuleDirectory } from '#rule-store';
import type { ClaimedEpisode } from '../../../services/repair/src/claimed-episode.js';
import { CandidateWriter, type Added } from '../../../services/repair/src/postgres/candidate-writer.js';
import { WorkStore } from '../../../services/repair/src/postgres/work-store.js';

const LEASE = randomUUID();
const WITHIN_MS = 60_000;

export interface ProposalFigures {
  /** Live rules before the window, and the median of its proposals in milliseconds. */
  readonly windows: readonly { readonly rules: number; readonly medianMs: number }[];
  readonly added: number;
  readonly covered: number;
  /** Exact repeats of stored rules that were refused, of all that were proposed again. */
  readonly repeats: { readonly refused: number; readonly proposed: number };
}

/** Proposes texts one by one, as repairs do: compared and inserted under the project's lock on rules, each for an episode of its own. */
export async function propose(
  databaseUrl: string,
  texts: readonly string[],
  windowsAt: readonly number[],
  windowSize: number,
): Promise<ProposalFigures> {
  const repeated = 50;
  await plantEpisodes(databaseUrl, texts.length + repeated);
  const source = await createDataSource({ url: databaseUrl, role: 'fm_repair', name: 'bench' }).initialize();
  const work = new UnitOfWork(source, { publish: () => Promise.resolve([]) }, 'repair');
  const directory = new RuleDirectory({ read: (sql, parameters) => work.read(sql, parameters), freshForMs: 0 });
  const writer = new CandidateWriter(new WorkStore(work), directory);
  const settings = projectSettings.parse({});
  let episode = 0;
  const add = (text: string): Promise<Added> =>
    writer.add(claimed((episode += 1)), { draft: draftOf(text), proposed: text, model: 'bench', settings }, WITHIN_MS);
  const times: { readonly rules: number; readonly ms: number }[] = [];
  const stored: string[] = [];
  let covered = 0;
  for (const text of texts) {
    const began = performance.now();
    const { kind } = await add(text);
    times.push({ rules: stored.length, ms: performance.now() - began });
    if (kind === 'added') stored.push(text);
    else covered += 1;
  }
  let refused = 0;
  for (const text of stored.slice(0, repeated)) if ((await add(`${text.toUpperCase()} !`)).kind === 'covered') refused += 1;
  await source.destroy();
  const windows = windowsAt.map((rules) => ({
    rules,
    medianMs: median(times.filter((one) => one.rules >= rules && one.rules < rules + windowSize).map(({ ms }) => ms)),
  }));
  return { windows, added: stored.length, covered, repeats: { refused, proposed: Math.min(repeated, stored.length) } };
}

const claimed = (n: number): ClaimedEpisode => ({
  ...{
    episode: `e-bench-${n}`,
    project: 'default',
    s: '00000000-0000-0000-0000-000000000001',
    session: 'bench',
    t: 0,
    incident: `i-bench-${n}`,
  },
  ...{ noticeIds: [], recommendedScope: null, run: 1, failures: 0, crashed: false, candidate: null, cover: null, lease: LEASE },
});

const draftOf = (rule: string): RuleDraft => ({
  ...{ rule, rationale: 'It went wrong without it.', metric: 'tool_correctness', tags: ['bench'], scope: 'global' },
  ...{ scope_rationale: null, scope_description: null, applicability: null, failure_signatures: [] },
  normal_hash: contentHash(normalRuleText(rule)),
});

async function plantEpisodes(databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO mailbox.episodes (id, project, s, t, session, incident_id, notice_ids, status)
     SELECT 'e-bench-' || n, 'default', '00000000-0000-0000-0000-000000000001', n, 'bench', 'i-bench-' || n, '{}', 'claimed' FROM generate_series(1, $1::int) n`,
    [count],
  );
  await client.query(
    `INSERT INTO repair.work (episode, project, incident, s, session, t, state, lease, leased_until)
     SELECT id, project, incident_id, s, session, t, 'running', $1, now() + interval '1 day' FROM mailbox.episodes`,
    [LEASE],
  );
  await client.query('ANALYZE mailbox.episodes, repair.work');
  await client.end();
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
