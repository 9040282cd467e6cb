import { Injectable } from '@nestjs/common';
import { advanceTrial, advanceWatch, summarise, type Observation, type TrialContext, type TrialState } from '#domain/evidence';
import { derivedId, replayOfSession } from '#domain/ids';
import { SettingsDirectory, UnitOfWork, type Transaction } from '#persistence';
import { EntryStore } from '../postgres/entry-store.js';
import { ExposureStore, type Arrival, type ExposureRow } from '../postgres/exposure-store.js';
import { TrialStore, type CountedObservation, type TrialRow, type TrialRule } from '../postgres/trial-store.js';
import { VerdictStore, type Sentence } from '../postgres/verdict-store.js';
import { announceVerdict } from './announce.js';
import { judgeEntry, type JudgedEntry } from './judge-entry.js';
import { sentenceOf, type Verdict } from './sentence.js';
import { keptSettings, type KeptSettings } from './trial-settings.js';

/** Live trials of candidates (DATAFLOW, step 8). Locks trials before the sessions in them, and the rules of a project last. */
@Injectable()
export class TrialDesk {
  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly exposures: ExposureStore,
    private readonly entries: EntryStore,
    private readonly trials: TrialStore,
    private readonly verdicts: VerdictStore,
  ) {}

  /** Takes sessions into the trials of the candidates that they came to, in the order in which they came. */
  async expose(rows: readonly ExposureRow[]): Promise<void> {
    await this.work.run(async (tx) => {
      await this.exposures.insert(tx, rows);
      const [replays, live] = split(rows, ({ session }) => replayOfSession(session) !== null);
      if (replays.length > 0) await this.exposures.surface(tx, replays);
      const arrivals = live.length === 0 ? [] : await this.exposures.arrivals(tx, live);
      if (arrivals.length === 0) return;
      await this.begin(tx, distinctRules(arrivals));
      const locked = await this.trials.lock(tx, [...new Set(arrivals.map(({ rule }) => rule))]);
      const last = new Map(locked.map(({ rule, entries }) => [rule, entries]));
      await this.entries.enter(tx, arrivals, last);
      await this.trials.saveEntries(tx, last);
    });
    // After the commit: who brought a report of these sessions meanwhile did not see that they are in a trial.
    await this.look([...new Set(rows.map(({ s }) => s))]);
  }

  /** Begins the trials of candidates that have none. */
  async begin(tx: Transaction, rules: readonly TrialRule[]): Promise<void> {
    const projects = [...new Set(rules.map(({ project }) => project))];
    const open = await this.trials.openIn(tx, projects);
    const withSettings: (TrialRule & { readonly settings: KeptSettings })[] = [];
    for (const rule of rules) {
      const candidates = rule.kind === 'candidate' ? (open.get(rule.project) ?? 0) + 1 : 1;
      withSettings.push({ ...rule, settings: keptSettings(await this.settings.of(rule.project), candidates) });
    }
    const begun = await this.trials.begin(tx, withSettings);
    for (const { rule, of, kind, project, allocation } of begun) {
      const settings = withSettings.find((one) => one.rule === rule)?.settings;
      const type = kind === 'candidate' ? 'trial_started' : 'watch_started';
      tx.journal({ id: derivedId('trial_started', rule), project, type, rule: of, doc: { allocation, settings } });
    }
  }

  /** Sees whether outcomes of sessions are known by now, and moves their trials on. */
  async look(sessions: readonly string[]): Promise<void> {
    const read = this.work.read.bind(this.work);
    const open = sessions.length === 0 ? [] : await this.entries.openOf(read, sessions);
    if (open.length === 0) return;
    const { bySession, nowUs } = await this.entries.facts(read, [...new Set(open.map(({ s }) => s))]);
    const judged = open.map((entry) => ({
      ...judgeEntry(entry, bySession.get(entry.s) ?? { turns: [], endedUs: null }, nowUs),
      before: entry.check_us,
    }));
    const known = judged.filter(({ outcome }) => outcome !== null);
    const later = judged.filter(({ outcome, checkUs, before }) => outcome === null && checkUs !== before);
    if (later.length > 0) await this.work.run((tx) => this.entries.saveChecks(tx, later));
    if (known.length > 0) await this.work.run((tx) => this.count(tx, known));
  }

  private async count(tx: Transaction, known: readonly JudgedEntry[]): Promise<void> {
    const locked = await this.trials.lock(tx, [...new Set(known.map(({ rule }) => rule))].sort());
    const here = new Set(locked.map(({ rule }) => rule));
    await this.entries.saveOutcomes(
      tx,
      known.filter(({ rule }) => here.has(rule)),
    );
    for (const trial of locked) await this.advance(tx, trial);
  }

  /** Trials that time alone may end. */
  async review(rules: readonly string[]): Promise<void> {
    if (rules.length === 0) return;
    await this.work.run(async (tx) => {
      for (const trial of await this.trials.lock(tx, rules)) await this.advance(tx, trial);
    });
  }

  /** A pair of replays has ended and counts. Its trial may be decided by now; then it does not. */
  async countPair(tx: Transaction, rule: string, pair: string, observation: Observation): Promise<void> {
    for (const trial of await this.trials.lock(tx, [rule])) await this.advance(tx, trial, [{ s: null, pair, doc: observation }]);
  }

  private async advance(tx: Transaction, trial: TrialRow, pairs: readonly Uncounted[] = []): Promise<void> {
    const { observe_only: paused } = await this.settings.of(trial.project);
    if (paused && pairs.length === 0) return;
    const sessions = (await this.trials.countable(tx, trial)).map(({ s, observation }) => ({ s, pair: null, doc: observation }));
    const all: Uncounted[] = [...sessions, ...pairs];
    const { state, counted, verdict } = decided(
      trial,
      all.map(({ doc }) => doc),
    );
    const doc = isOpen(verdict)
      ? null
      : { ...verdictDoc(verdict, state, trial), tape_share: await this.trials.tapeShare(tx, trial.rule) };
    if (counted === 0 && doc === null) return;
    await this.trials.save(tx, trial.rule, {
      ...{ state, verdict: doc, counted: trial.counted + Math.min(counted, sessions.length) },
      observations: all.slice(0, counted).map((one, at) => ({ ...one, seq: trial.observations + at + 1 })),
    });
    if (isOpen(verdict) || doc === null) return;
    const sentence = sentenceOf(verdict);
    if (sentence === null) await this.goOn(tx, trial, doc);
    else await this.execute(tx, { ...trial, sentence, doc });
  }

  /** A watch that found its rule to help begins anew; one that found nothing says so, and ends. */
  private async goOn(
    tx: Transaction,
    { rule, of, kind, project, metric, state }: TrialRow,
    doc: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const type = doc['verdict'] === 'confirmed' ? 'rule_confirmed' : 'rule_stale';
    tx.journal({ id: derivedId(type, rule), project, type, rule: of, doc });
    await this.verdicts.close(tx, rule);
    if (doc['verdict'] !== 'confirmed') return;
    const next = `${of}~${Number(rule.slice(of.length + 1)) + 1}`;
    await this.begin(tx, [{ rule: next, of, kind, project, metric, allocation: state.allocation }]);
  }

  /** Also asked again for verdicts that could not be carried out while their rule was withdrawn or held. */
  async execute(
    tx: Transaction,
    trial: Pick<TrialRow, 'rule' | 'of' | 'kind' | 'project'> & {
      readonly sentence: Sentence;
      readonly doc: Readonly<Record<string, unknown>>;
    },
  ): Promise<void> {
    const { rule, of, kind, project, sentence, doc } = trial;
    const { ablation_rate: rate } = await this.settings.of(project);
    const from = kind === 'candidate' ? 'candidate' : 'active';
    const execution = await this.verdicts.execute(tx, { rule: of, project, from, sentence, allocation: 1 - rate });
    if (execution.done) announceVerdict(tx, { rule: of, project, sentence, doc }, execution);
    if (execution.done || execution.because === 'gone') await this.verdicts.close(tx, rule);
  }
}

type Uncounted = Omit<CountedObservation, 'seq'>;

function contextOf({ age_days: ageDays, cases }: TrialRow): TrialContext {
  return { ageDays, chosenWins: cases?.wins ?? [], winMetrics: cases?.metrics ?? 0 };
}

/** The trial after further observations, by its own question. */
function decided(trial: TrialRow, observations: readonly Observation[]) {
  const { kind, state, settings } = trial;
  if (kind === 'candidate') return advanceTrial(state, observations, settings, contextOf(trial));
  const { verdict, ...rest } = advanceWatch(state, observations, { ...settings, max_sessions: settings.ablation_max_sessions });
  return { ...rest, verdict: { verdict } };
}

type Decided = ReturnType<typeof decided>['verdict'];

function isOpen(verdict: Decided): verdict is Exclude<Decided, Verdict> | Extract<Verdict, { verdict: 'pending' }> {
  return verdict.verdict === 'pending' || verdict.verdict === 'watching';
}

/** Everything that a verdict is stored with; it can be had again from the observations. */
function verdictDoc(verdict: Decided, state: TrialState, { settings }: TrialRow): Record<string, unknown> {
  return { ...verdict, ...summarise(state, settings), sessions: state.sessions, pairs: state.pairs.pairs };
}

function distinctRules(arrivals: readonly Arrival[]): TrialRule[] {
  const rules = arrivals.map(({ rule, of, kind, project, metric, allocation }) => ({
    rule,
    of,
    kind,
    project,
    metric,
    allocation,
  }));
  return [...new Map(rules.map((one) => [one.rule, one])).values()].sort((a, b) => (a.rule < b.rule ? -1 : 1));
}

function split<T>(all: readonly T[], first: (one: T) => boolean): [T[], T[]] {
  return [all.filter(first), all.filter((one) => !first(one))];
}
