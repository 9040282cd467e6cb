import { Option, type Command } from 'commander';
import { traceStates, type ReceivedTrace, type ReceivedTraceSpan, type ReceivedTraceSpans } from '#contracts';
import { printList, type ListOptions } from './lists.js';
import { example, withGateway, withPages } from './options.js';

export function registerTraces(program: Command): void {
  const command = withPages(withGateway(program.command('traces')))
    .description('traces that came over OpenTelemetry, newest first: the turn of each, or why it has none; with an id its spans')
    .argument('[id]', 'a trace')
    .addOption(new Option('--state <state>', 'only in this state').choices(traceStates))
    .option('--session <id>', 'only of this session, as their spans say it')
    .option('--no-session', 'only of no session')
    .option('--late', 'only with late spans; with an id: only late spans')
    .action((id: string | undefined, options: ListOptions) => (id === undefined ? list(options) : show(id, options)));
  example(command, 'fleetmend traces --no-session', 'fleetmend traces 4bf92f3577b34da6a3ce929d0e0e4736');
}

/** `--no-session` is commander's word for `session` = false. */
function list({ session, late, ...options }: ListOptions): Promise<void> {
  const named = typeof session === 'string' ? { session } : {};
  const filter = { ...named, ...(session === false ? { no_session: 'true' } : {}), ...(late === true ? { late: 'true' } : {}) };
  return printList<ReceivedTrace>(
    {
      path: '/v1/traces',
      filters: ['state', 'session', 'no_session', 'late'],
      none: 'no traces',
      columns: (when) => [
        { title: 'trace', of: ({ trace_id: id }) => id },
        { title: 'last span', of: ({ last_at: at }) => when(at) },
        { title: 'state', of: ({ state }) => state },
        { title: 'spans', of: ({ spans }) => spans, right: true },
        { title: 'late', of: ({ late_spans: late }) => late, right: true },
        { title: 'turn', of: ({ turn }) => turn?.turn_index ?? '', right: true },
        { title: 'session', of: ({ turn, session_id: said }) => turn?.session_id ?? said ?? '' },
        { title: 'why', of: ({ reason }) => reason ?? '' },
      ],
    },
    { ...options, ...filter },
  );
}

async function show(id: string, options: ListOptions): Promise<void> {
  const [{ openGateway }, { readPages }, { answer }, { traceText }, { say }] = await Promise.all([
    import('../http/gateway.js'),
    import('../http/pages.js'),
    import('../output/answer.js'),
    import('../output/trace.js'),
    import('../output/write.js'),
  ]);
  const gateway = await openGateway(options);
  const path = `/v1/traces/${encodeURIComponent(id)}`;
  const late = options['late'] === true ? 'true' : undefined;
  const first = await gateway.get<ReceivedTraceSpans>(path, { limit: options.limit, cursor: options.cursor, late });
  const rest =
    options.all === true && first.next_cursor !== null
      ? await readPages<ReceivedTraceSpan>(gateway, path, { late }, { ...options, cursor: first.next_cursor })
      : { items: [], next_cursor: first.next_cursor };
  const shown: ReceivedTraceSpans = { ...first, items: [...first.items, ...rest.items], next_cursor: rest.next_cursor };
  await answer(shown, options, traceText);
  if (shown.next_cursor !== null) say(`more: --cursor ${shown.next_cursor}, or --all`);
}
