import { Option, type Command } from 'commander';
import type { ManyRulesChanged, RuleRecord, RuleToolOutput } from '#contracts';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import { printList, type ListOptions } from './lists.js';
import { example, integer, names, withGateway, withPages } from './options.js';

type Options = GatewayOptions & FormatOption;
type ReasonOptions = Options & { readonly reason?: string };
type ManyOptions = ReasonOptions & { readonly scope?: string; readonly all?: boolean };

const INVENTORY = '/v1/rules/inventory';
const ruleOf = (id: string): string => `/v1/rules/ids/${encodeURIComponent(id)}`;

export function registerRules(program: Command): void {
  const rules = program.command('rules').description('what the fleet has learned: read it, and decide about it');
  registerReads(rules);
  registerChanges(rules);
  registerCandidates(program);
}

function registerReads(rules: Command): void {
  example(
    withPages(withGateway(rules.command('list').description('all rules, newest first, retired and withdrawn ones too')))
      .option('--status <status>', 'only candidate, active or retired')
      .option('--scope <scope>', 'only of this scope')
      .addOption(
        new Option('--withdrawn <yes>', 'only those that are (true) or are not (false) withdrawn').choices(['true', 'false']),
      )
      .action((options: ListOptions) =>
        list({ path: INVENTORY, filters: ['status', 'scope', 'withdrawn'], none: 'no rules' }, options),
      ),
    'fleetmend rules list --status active',
  );
  example(
    withGateway(rules.command('show').description('one rule with everything that is known of it'))
      .argument('<id>', 'a rule')
      .action((id: string, options: Options) => show(id, options)),
    'fleetmend rules show r-0198c2',
  );
  example(
    withGateway(rules.command('read').description('the active rules of a scope, as an agent without a session reads them'))
      .argument('[scope]', 'a scope', 'global')
      .action(async (scope: string, options: Options) => {
        const read = await ask<RuleToolOutput<'read'>>(options, 'GET', `/v1/rules/scopes/${encodeURIComponent(scope)}`);
        const { scopeText } = await import('../rules/text.js');
        await print(read, options, scopeText);
      }),
    'fleetmend rules read payments',
  );
  example(
    withGateway(rules.command('search').description('active rules that fit a few words, best first'))
      .argument('<query>', 'a few words about the task or the problem')
      .option('--limit <n>', 'at most this many (1 to 50)', integer(1, 50))
      .action(async (query: string, options: Options & { limit?: number }) => {
        const limit = options.limit === undefined ? '' : `&limit=${options.limit}`;
        const found = await ask<RuleToolOutput<'search'>>(options, 'GET', `/v1/rules?q=${encodeURIComponent(query)}${limit}`);
        const { foundText } = await import('../rules/text.js');
        await print(found, options, foundText);
      }),
    'fleetmend rules search "refund twice"',
  );
  example(
    withGateway(
      rules.command('export').description('write rules.md and rules/<scope>.md: active rules, for agents that read files'),
    )
      .argument('<dir>', 'a folder; files of scopes without rules are emptied')
      .action(async (dir: string, options: Options) => {
        const { exportRules } = await import('../rules/export.js');
        const exported = await exportRules(dir, options);
        await print(exported, options, ({ files }) => `${files.length} files written to ${dir}`);
      }),
    'fleetmend rules export .agent/skills',
  );
}

function registerChanges(rules: Command): void {
  change(rules, 'retire', 'end a rule for good').requiredOption('--reason <text>', 'why; it is kept with the rule');
  change(rules, 'approve', 'let a held candidate start its trial').option('--reason <text>', 'why; it is journaled');
  many(rules, 'withdraw', 'hide rules from every read within a second, until they are restored');
  many(rules, 'restore', 'make withdrawn rules readable again');
  example(
    withGateway(
      rules.command('edit').description('write a new candidate that is the rule with parts changed, and retire the rule'),
    )
      .argument('<id>', 'a rule')
      .option('--rule <text>', 'the sentence of advice')
      .option('--rationale <text>', 'why it helps')
      .option('--scope <scope>', 'where it is filed')
      .option('--metric <name>', 'the metric that it answers for; "" for none')
      .option('--tags <a,b>', 'its tags', names)
      .option('--applicability <how>', 'global, topical or task; "" for none')
      .action((id: string, { url, key, format, ...parts }: Options & Record<string, string>) => {
        const edit = Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, value === '' ? null : value]));
        return post(`${ruleOf(id)}/edit`, edit, { url, key, format } as Options);
      }),
    'fleetmend rules edit r-0198c2 --rule "Read the order before you refund it." --scope payments',
  );
}

function change(rules: Command, name: 'retire' | 'approve', about: string): Command {
  const command = withGateway(rules.command(name).description(about))
    .argument('<id>', 'a rule')
    .action((id: string, { reason, ...options }: ReasonOptions) => post(`${ruleOf(id)}/${name}`, { reason }, options));
  return example(
    command,
    `fleetmend rules ${name} r-0198c2 --reason "${name === 'retire' ? 'it is wrong since May' : 'read and fine'}"`,
  );
}

/** One rule by its id, or the kill switch for a scope or the project. */
function many(rules: Command, name: 'withdraw' | 'restore', about: string): void {
  example(
    withGateway(rules.command(name).description(about))
      .argument('[id]', 'one rule')
      .option('--scope <scope>', 'all rules of a scope')
      .option('--all', 'all rules of the project')
      .option('--reason <text>', 'why; it is journaled')
      .action((id: string | undefined, options: ManyOptions) => changeMany(name, id, options)),
    `fleetmend rules ${name} r-0198c2`,
    `fleetmend rules ${name} --scope payments --reason "prices changed"`,
  );
}

async function changeMany(name: string, id: string | undefined, { scope, all, reason, ...options }: ManyOptions): Promise<void> {
  const { CommandError, exitCodes } = await import('../exit-codes.js');
  if ([id, scope, all].filter((one) => one !== undefined).length !== 1)
    throw new CommandError(exitCodes.usage, `say what to ${name}: the id of one rule, --scope, or --all`);
  if (id !== undefined) return post(`${ruleOf(id)}/${name}`, { reason }, options);
  const changed = await ask<ManyRulesChanged>(options, 'POST', `/v1/rules/${name}`, { scope, all, reason });
  await print(changed, options, ({ rule_ids: ids, version }) => `${ids.length} rules changed, version ${version}`);
}

function registerCandidates(program: Command): void {
  const candidates = withPages(withGateway(program.command('candidates')))
    .description('rules on trial, or held before it, newest first')
    .option('--scope <scope>', 'only of this scope')
    .addOption(
      new Option('--held <yes>', 'only those that wait for an operator or an objection (true), or do not').choices([
        'true',
        'false',
      ]),
    )
    .action((options: ListOptions) =>
      list({ path: '/v1/candidates', filters: ['scope', 'held'], none: 'no candidates' }, options),
    );
  example(candidates, 'fleetmend candidates --held true');
  example(
    withGateway(
      candidates.command('show').description('one candidate, and its trial: evidence so far, arms, what is still missing'),
    )
      .argument('<id>', 'a rule')
      .option('--plot <file>', 'also draws the evidence over the observations, as SVG')
      .action(async (id: string, options: Options & { readonly plot?: string }) => {
        const { showCandidate } = await import('../trials/show-candidate.js');
        await showCandidate(id, options);
      }),
    'fleetmend candidates show r-0198c2 --plot trial.svg',
  );
}

async function list(of: { path: string; filters: readonly string[]; none: string }, options: ListOptions): Promise<void> {
  const { ruleColumns } = await import('../rules/text.js');
  await printList<RuleRecord>({ ...of, columns: () => ruleColumns }, options);
}

async function show(id: string, options: Options): Promise<void> {
  await printRule(await ask<RuleRecord>(options, 'GET', `${INVENTORY}/${encodeURIComponent(id)}`), options);
}

/** Changes a rule and prints it as it is then. */
async function post(path: string, body: object, options: Options): Promise<void> {
  await printRule(await ask<RuleRecord>(options, 'POST', path, body), options);
}

async function printRule(rule: RuleRecord, options: Options): Promise<void> {
  const { ruleText } = await import('../rules/text.js');
  await print(rule, options, ruleText);
}

async function ask<T>(options: GatewayOptions, method: string, path: string, body?: object): Promise<T> {
  const { openGateway } = await import('../http/gateway.js');
  return (await openGateway(options)).call<T>(method, path, body);
}

async function print<T>(value: T, options: FormatOption, pretty: (value: T) => string): Promise<void> {
  const { answer } = await import('../output/answer.js');
  await answer(value, options, pretty);
}
