import { ruleTools, type ProjectSettings, type RuleTool } from '#contracts';
import { armOf } from '#domain/evidence';
import { replayOfSession } from '#domain/ids';
import { withoutSession, type Exposure, type Reader } from '#domain/rules';
import { ruleReads, type ProjectRules, type RefusedRead, type RuleRead } from '#rule-store';
import type { ExposureLog } from './exposure-log.js';

/** One read, whatever door it came through. The session and its turn are named by the transport, never by the model. */
export interface RuleRequest {
  readonly project: string;
  readonly session: string | null;
  readonly turn: number | null;
  readonly tool: RuleTool;
  readonly args: unknown;
}

export type RuleAnswer =
  { readonly ok: true; readonly answer: object } | { readonly ok: false; readonly path: string; readonly error: string };

export interface ReaderParts {
  readonly rules: { of(project: string): Promise<ProjectRules> };
  readonly settings: { of(project: string): Promise<ProjectSettings> };
  readonly salts: { of(project: string): Promise<string> };
  readonly replays: { of(project: string, session: string): Promise<ReplayRun | null> };
  readonly exposures: Pick<ExposureLog, 'record'>;
  readonly now?: () => number;
}

/** Which run of a pair a replay is. */
export interface ReplayRun {
  readonly arm: 'with' | 'without' | 'current';
  readonly rule: string | null;
}

type Outcome = RuleRead<object> | RefusedRead;

/**
 * The four reads for task agents (BEHAVIOUR 9; EVIDENCE, "Delivery"). Every door answers through here, so that what is withheld from
 * a session is withheld at every door.
 */
export class RuleReader {
  private readonly now: () => number;

  constructor(private readonly parts: ReaderParts) {
    this.now = parts.now ?? Date.now;
  }

  async answer(request: RuleRequest): Promise<RuleAnswer> {
    const { project, session, tool } = request;
    const args = ruleTools[tool].input.safeParse(request.args ?? {});
    if (!args.success) return refusalOf(args.error.issues);
    const [rules, settings] = await Promise.all([this.parts.rules.of(project), this.parts.settings.of(project)]);
    const now = this.now();
    const reader = session === null ? withoutSession(now) : await this.readerOf(project, session, settings, now);
    const outcome = readWith(tool, rules, reader, args.data);
    if ('refused' in outcome) return { ok: false, path: 'scope', error: outcome.refused };
    if (session === null || outcome.exposure === null) return { ok: true, answer: outcome.answer };
    const exposure = settings.observe_only ? withoutTrials(outcome.exposure) : outcome.exposure;
    const kind = tool === 'search' ? 'search' : 'read';
    const { turn } = request;
    if (await this.parts.exposures.record({ project, session, turn, kind, version: rules.version, exposure, now }))
      return { ok: true, answer: outcome.answer };
    // A session that was shown a candidate without a record would spoil its trial: it gets what is proven, like a stranger.
    const plain = readWith(tool, rules, withoutSession(now), args.data);
    return { ok: true, answer: 'refused' in plain ? outcome.answer : plain.answer };
  }

  private async readerOf(project: string, session: string, settings: ProjectSettings, now: number): Promise<Reader> {
    if (settings.observe_only) return withoutSession(now);
    if (replayOfSession(session) !== null) return replayReader(await this.parts.replays.of(project, session), now);
    const salt = await this.parts.salts.of(project);
    return {
      now,
      withholds: ({ id, status, allocation }) =>
        status !== 'retired' && armOf({ ruleId: id, sessionId: session, salt }, allocation) === 'control',
    };
  }
}

/** A replay sees the candidate that it is of, in the run with it, and no other. */
function replayReader(run: ReplayRun | null, now: number): Reader {
  const shown = run?.arm === 'with' ? run.rule : null;
  return { now, withholds: ({ id, status }) => status === 'candidate' && id !== shown };
}

/** In shadow mode nobody sees a candidate, so that nobody's read counts for its trial. */
function withoutTrials({ rule_ids }: Exposure): Exposure {
  return { rule_ids, withheld_ids: [] };
}

function readWith(tool: RuleTool, rules: ProjectRules, reader: Reader, args: unknown): Outcome {
  const read = ruleReads[tool] as (rules: ProjectRules, reader: Reader, args: unknown) => Outcome;
  return read(rules, reader, args);
}

function refusalOf(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): RuleAnswer {
  const [first] = issues;
  const path = first?.path.map(String).join('.') ?? '';
  return { ok: false, path, error: path === '' ? (first?.message ?? 'not valid') : `${path}: ${first?.message ?? 'not valid'}` };
}
