import { Injectable } from '@nestjs/common';
import { EVERY_SCOPE, ruleCandidate, ruleChanged, type ProjectSettings } from '#contracts';
import { derivedId, ruleIdOf, sessionToken } from '#domain/ids';
import type { RuleDraft } from '#domain/repair';
import type { Novelty } from '#domain/rules';
import type { Transaction } from '#persistence';
import { RuleDirectory, type StoredRule } from '#rule-store';
import { journal } from '../announcements.js';
import type { ClaimedEpisode } from '../claimed-episode.js';
import { WorkStore } from './work-store.js';

/** A proposal that passed everything but the comparison with other rules. */
export interface Candidate {
  readonly draft: RuleDraft;
  /** As the model wrote it, which is compared too. */
  readonly proposed: string;
  readonly model: string;
  readonly settings: ProjectSettings;
}

export type Added =
  | { readonly kind: 'added'; readonly ruleId: string; readonly held: 'approval' | 'veto' | null }
  | { readonly kind: 'covered'; readonly novelty: Exclude<Novelty<StoredRule>, { verdict: 'novel' }> }
  | { readonly kind: 'full' }
  /** The episode has its rule already. */
  | { readonly kind: 'second' };

const HOUR_S = 3_600;

/** Adds the candidate of an episode: compared and inserted under the project's lock on rules, so that two never say the same. */
@Injectable()
export class CandidateWriter {
  constructor(
    private readonly store: WorkStore,
    private readonly directory: RuleDirectory,
  ) {}

  /** Compared without a lock: what is known already needs none. */
  async covered(project: string, { draft, proposed }: Candidate): Promise<Added | null> {
    return coverOf(await this.directory.of(project), draft, proposed);
  }

  async add(episode: ClaimedEpisode, candidate: Candidate, withinMs: number): Promise<Added> {
    const added = await this.store.fenced(withinMs, (tx) => this.insert(tx, episode, candidate));
    if (added.kind === 'added') this.directory.markStale(episode.project);
    return added;
  }

  private async insert(tx: Transaction, episode: ClaimedEpisode, candidate: Candidate): Promise<Added> {
    const { draft, proposed, model, settings } = candidate;
    await tx.query('SELECT repair.lock_rules($1, $2)', [episode.episode, episode.lease]);
    const rules = await this.directory.within(episode.project, tx.query.bind(tx));
    const covered = coverOf(rules, draft, proposed);
    if (covered !== null) return covered;
    if (settings.max_active_rules > 0 && rules.live >= settings.max_active_rules) return { kind: 'full' };
    const hold = holdOf(draft.scope, settings);
    const id = ruleIdOf(episode.episode);
    const [row] = await tx.query<{ version: number | null }>('SELECT repair.add_candidate($1, $2, $3) AS version', [
      ...[
        episode.episode,
        episode.lease,
        JSON.stringify({ id, ...draft, model, allocation: settings.trial_allocation, ...hold }),
      ],
    ]);
    if (row?.version == null) return { kind: 'second' };
    tellOfCandidate(tx, episode, { id, draft, model, version: row.version, hold: hold.hold });
    return { kind: 'added', ruleId: id, held: hold.hold };
  }
}

type Rules = Awaited<ReturnType<RuleDirectory['of']>>;

/** The text as proposed, then the text as it would be stored. */
function coverOf({ novelty }: Rules, draft: RuleDraft, proposed: string): Added | null {
  for (const rule of new Set([proposed, draft.rule])) {
    const found = novelty.check({ ...draft, rule });
    if (found.verdict !== 'novel') return { kind: 'covered', novelty: found };
  }
  return null;
}

interface HoldFields {
  readonly hold: 'approval' | 'veto' | null;
  readonly hold_s: number | null;
}

function holdOf(scope: string, { rule_review: review, rule_veto_h: vetoH }: ProjectSettings): HoldFields {
  switch (review[scope] ?? review[EVERY_SCOPE] ?? 'auto') {
    case 'auto':
      return { hold: null, hold_s: null };
    case 'approve':
      return { hold: 'approval', hold_s: null };
    case 'veto':
      return { hold: 'veto', hold_s: vetoH * HOUR_S };
  }
}

function tellOfCandidate(
  tx: Transaction,
  claimed: ClaimedEpisode,
  rule: { id: string; draft: RuleDraft; model: string; version: number; hold: string | null },
): void {
  const { id, draft, version, hold, model } = rule;
  const { episode, project, run } = claimed;
  const { scope, metric, tags } = draft;
  const payload = { rule_id: id, scope, version, by: 'repair', reason: null, episode_id: episode };
  tx.emit({ event: ruleCandidate, id: derivedId('rule.candidate', id), project, tail: [sessionToken(scope)], payload });
  tx.emit({ event: ruleChanged, id: derivedId('rule.changed', project, version), project, payload: { version } });
  journal(tx, claimed, { type: 'repair_candidate_added', run, rule: id, doc: { scope, metric, tags, hold, model, version } });
}
