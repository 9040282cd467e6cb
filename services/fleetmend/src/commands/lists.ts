import { Option, type Command } from 'commander';
import type { Episode, EpisodeDetail, Incident, JournalEvent } from '#contracts';
import type { Gateway, GatewayOptions } from '../http/gateway.js';
import type { Page, PageOptions } from '../http/pages.js';
import type { FormatOption } from '../output/answer.js';
import type { Column } from '../output/table.js';
import { example, withGateway, withPages } from './options.js';

export type ListOptions = GatewayOptions & PageOptions & FormatOption & Readonly<Record<string, unknown>>;

/** How one list of the gateway is asked for and shown. */
interface List<Item> {
  readonly path: string;
  /** Names of options that are the query's members of the same name. */
  readonly filters: readonly string[];
  readonly none: string;
  readonly columns: (when: (micros: number | null) => string) => readonly Column<Item>[];
}

/** Asks for a list and prints it: the page as JSON, or a table. */
export async function printList<Item>(list: List<Item>, options: ListOptions): Promise<void> {
  const [{ openGateway }, { readPages }, { answer, listed }, { when }, { say }] = await Promise.all([
    import('../http/gateway.js'),
    import('../http/pages.js'),
    import('../output/answer.js'),
    import('../output/table.js'),
    import('../output/write.js'),
  ]);
  const filter = Object.fromEntries(list.filters.map((name) => [name, options[name] as string | undefined]));
  const page = await readPages<Item>(await openGateway(options), list.path, filter, options);
  await answer<Page<Item>>(page, options, ({ items }) => listed(items, list.columns(when), list.none));
  if (page.next_cursor !== null) say(`more: --cursor ${page.next_cursor}, or --all`);
}

const episodes: List<Episode> = {
  path: '/v1/episodes',
  filters: ['session', 'status', 'incident', 'outcome', 'waits_for'],
  none: 'no episodes',
  columns: (when) => [
    { title: 'episode', of: ({ id }) => id },
    { title: 'opened', of: ({ opened_at: at }) => when(at) },
    { title: 'status', of: stateOf },
    { title: 'turn', of: ({ turn_index: turn }) => turn, right: true },
    { title: 'notices', of: ({ notice_ids: ids }) => ids.length, right: true },
    { title: 'incident', of: ({ incident_id: id }) => id },
    { title: 'session', of: ({ session_id: id }) => id },
  ],
};

/** How it ended, or what its repair waits for. */
function stateOf({ status, outcome, work }: Episode): string {
  const more = outcome?.status ?? work?.waits_for;
  return more == null ? status : `${status} (${more})`;
}

const incidents: List<Incident> = {
  path: '/v1/incidents',
  filters: ['status'],
  none: 'no incidents',
  columns: (when) => [
    { title: 'incident', of: ({ id }) => id },
    { title: 'opened', of: ({ opened_at: at }) => when(at) },
    { title: 'status', of: ({ status }) => status },
    { title: 'episodes', of: ({ episodes: count }) => count, right: true },
    { title: 'notices', of: ({ notices: count }) => count, right: true },
    { title: 'rule', of: ({ rule_id: id }) => id ?? '' },
    { title: 'fingerprint', of: ({ fingerprint }) => fingerprint ?? '' },
  ],
};

const journal: List<JournalEvent> = {
  path: '/v1/journal',
  filters: ['type', 'session', 'episode', 'rule', 'since', 'until'],
  none: 'nothing is journaled',
  columns: (when) => [
    { title: 'at', of: ({ at }) => when(at) },
    { title: 'type', of: ({ type }) => type },
    { title: 'turn', of: ({ turn_index: turn }) => turn ?? '', right: true },
    { title: 'session', of: ({ session_id: id }) => id ?? '' },
    { title: 'what', of: ({ doc }) => JSON.stringify(doc) },
  ],
};

export function registerLists(program: Command): void {
  const list = (name: string, about: string): Command => withPages(withGateway(program.command(name).description(about)));
  const group = list('episodes', 'groups of notices that one repair works on, newest first; `episodes group` forms them offline');
  registerEpisode(group);
  example(
    group
      .option('--session <id>', 'only of this session')
      .option('--status <status>', 'only with this status')
      .option('--incident <id>', 'only of this incident')
      .option('--outcome <status>', 'only those that ended so, for example candidate_added')
      .option('--waits-for <what>', 'only those whose repair waits for this, for example operator')
      .action(({ waitsFor, ...options }: ListOptions) => printList(episodes, { ...options, waits_for: waitsFor })),
    'fleetmend episodes --status open',
    'fleetmend episodes --waits-for operator',
  );
  example(
    list('incidents', 'faults that several episodes share, newest first')
      .option('--status <status>', 'only with this status')
      .action((options: ListOptions) => printList(incidents, options)),
    'fleetmend incidents',
  );
  example(
    list('journal', 'what the loop did and why, newest first')
      .option('--type <type>', 'only of this type, for example gate_fired')
      .option('--session <id>', 'only of this session')
      .option('--episode <id>', 'only of this episode')
      .option('--rule <id>', 'only of this rule')
      .addOption(new Option('--since <time>', 'from this time on (RFC 3339, or a number of s, ms, us or ns)'))
      .addOption(new Option('--until <time>', 'before this time'))
      .action((options: ListOptions) => printList(journal, options)),
    'fleetmend journal --session support-42 --since 2026-11-30T00:00:00Z',
  );
}

/** One episode: to look at, and to let go on after an operator has removed what failed. */
function registerEpisode(episodesCommand: Command): void {
  const one = (name: string, about: string, ask: (gateway: Gateway, path: string) => Promise<EpisodeDetail>): void => {
    const command = withGateway(episodesCommand.command(name).description(about))
      .argument('<id>', 'an episode')
      .action(async (id: string, options: GatewayOptions & FormatOption) => {
        const [{ openGateway }, { answer }, { episodeText }] = await Promise.all([
          import('../http/gateway.js'),
          import('../output/answer.js'),
          import('../rules/text.js'),
        ]);
        await answer(await ask(await openGateway(options), `/v1/episodes/${encodeURIComponent(id)}`), options, episodeText);
      });
    example(command, `fleetmend episodes ${name} e-2f6ce8a1b90d`);
  };
  one('show', 'one episode: how it ended or what it waits for, and every run', (gateway, path) =>
    gateway.get<EpisodeDetail>(path),
  );
  one('retry', 'let an episode be repaired again whose runs failed too often', (gateway, path) =>
    gateway.call<EpisodeDetail>('POST', `${path}/retry`),
  );
}
