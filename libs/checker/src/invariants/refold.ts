import { isDeepStrictEqual } from 'node:util';
import { untouched, type GateConfig, type Trajectory } from '#domain/gate';
import type { BlockedTurn, TurnDecision } from '#domain/report';
import { turnName, type Findings, type Violation } from '../findings.js';
import { REFOLD_TURNS } from '../refold-window.js';
import { decideAgain, wasRequested, type StoredTurn } from '../stored-turn.js';

interface Candidate extends Violation {
  /** How many folded turns came before, in the session. */
  readonly place: number;
}

/** A broken session may be wrong at every turn. */
const KEPT = 20;

/**
 * Invariant 3: the turns of one session folded again, in order, with the domain's own code. Fed turn by turn; what it finds
 * before the last turns that can still be folded again does not count.
 */
export class SessionRefold {
  private trajectory: Trajectory = untouched;
  private place = 0;
  private candidates: Candidate[] = [];

  constructor(private readonly configs: ReadonlyMap<string, GateConfig>) {}

  /** What the last folded turn left behind, as stored. */
  get head(): Trajectory {
    return this.trajectory;
  }

  add(turn: StoredTurn): void {
    const config = this.configs.get(turn.config);
    if (config === undefined) return this.found(3, turn, `its configuration ${turn.config}`, 'none');
    if (!turn.folded) return;
    const { decisions, blocked } = decideAgain(this.trajectory, turn, config);
    const [decision] = decisions;
    if (blocked !== null) this.waits(turn, blocked);
    // A turn that waits, or whose tier 1 has not come, says nothing yet; the answers that are missing are counted elsewhere.
    if (decision === undefined) return;
    this.compare(turn, decision);
    // From what is stored, so that one wrong row is told once and not at every turn after it.
    this.trajectory = turn.state;
    this.place += 1;
  }

  finish(findings: Findings): void {
    const first = this.place - REFOLD_TURNS;
    for (const { invariant, detail, place } of this.candidates) if (place >= first) findings.add(invariant, detail);
  }

  private waits(turn: StoredTurn, { request }: BlockedTurn): void {
    for (const tier of request)
      if (!wasRequested(turn.requested, tier)) this.found(2, turn, `tier ${tier} asked for`, 'no request');
  }

  private compare(turn: StoredTurn, decision: TurnDecision): void {
    const { after, fired, standing, measured, digest, report } = decision;
    for (const tier of new Set(report.scores.map((score) => score.tier)))
      if (tier >= 2 && !wasRequested(turn.requested, tier)) this.found(2, turn, `tier ${tier} asked for`, 'no request');
    for (const [name, expected, found] of [
      ['state', after, turn.state],
      ['fired', fired, turn.fired],
      ['standing', standing, turn.standing],
      ['measured', measured, turn.measured],
    ] as const)
      if (!isDeepStrictEqual(expected, found)) this.found(3, turn, `${name} ${JSON.stringify(expected)}`, JSON.stringify(found));
    if (turn.rev === 0) this.found(2, turn, 'a report, since every asked tier has answered', 'none');
    else if (digest !== turn.digest) this.found(4, turn, `a report with the digest ${digest}`, turn.digest);
  }

  private found(invariant: number, turn: StoredTurn, expected: string, found: string): void {
    this.candidates.push({ invariant, detail: `${turnName(turn)}: expected ${expected}, found ${found}`, place: this.place });
    if (this.candidates.length > KEPT) this.candidates.shift();
  }
}
