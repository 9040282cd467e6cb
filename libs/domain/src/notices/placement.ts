import { closedBreaker, passBreaker, settleBreaker, type Breaker, type BreakerSettings, type Passage } from './breaker.js';

export interface PlacementSettings extends BreakerSettings {
  readonly coalesce: 'session' | 'fleet';
  readonly observe_only: boolean;
}

/** A notice that wants out. `fingerprint` is null when its fault cannot be recognised elsewhere. */
export interface Wish {
  readonly fingerprint: string | null;
}

export interface Placement {
  readonly passage: Passage | 'shadow';
  /** It belongs to an incident that is open already, opens one, or belongs to none (`needs_human`, shadow). */
  readonly incident: 'joins' | 'opens' | 'none';
  /** It counts for the breaker; the recovery of its session closes the breaker. */
  readonly counted: boolean;
  /** This one opened the breaker. */
  readonly opensBreaker: boolean;
}

/** A project's breaker and the fingerprints of its open incidents, while a batch is placed. */
export class ProjectGate {
  constructor(
    private breakerState: Breaker,
    private readonly openFaults: Set<string>,
    private readonly settings: PlacementSettings,
    private readonly now: number,
  ) {}

  get breaker(): Breaker {
    return this.breakerState;
  }

  place({ fingerprint }: Wish): Placement {
    if (this.settings.observe_only) return { passage: 'shadow', incident: 'none', counted: false, opensBreaker: false };
    const fault = this.settings.coalesce === 'fleet' ? fingerprint : null;
    if (fault !== null && this.openFaults.has(fault))
      return { passage: 'post', incident: 'joins', counted: false, opensBreaker: false };
    const { breaker, passage } = passBreaker(this.breakerState, this.now, this.settings);
    const opensBreaker = breaker.open && !this.breakerState.open;
    this.breakerState = breaker;
    if (fault !== null && passage === 'post') this.openFaults.add(fault);
    const counted = passage === 'post' && this.settings.circuit_breaker_max_notices > 0;
    return { passage, incident: passage === 'needs_human' ? 'none' : 'opens', counted, opensBreaker };
  }

  /** A session recovered. `counted`: one of its notices was counted. Returns whether this closed an open breaker. */
  recovered(counted: boolean): boolean {
    if (this.settings.observe_only || (this.settings.coalesce === 'fleet' && !counted)) return false;
    const closes = this.breakerState.open;
    this.breakerState = closedBreaker;
    return closes;
  }

  /** Time passed. Returns whether the window became empty and the breaker closed. */
  settle(): boolean {
    const { open } = this.breakerState;
    this.breakerState = settleBreaker(this.breakerState, this.now, this.settings);
    return open && !this.breakerState.open;
  }
}
