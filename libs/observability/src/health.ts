export interface HealthChange {
  readonly dependency: string;
  readonly status: 'ok' | 'degraded';
  readonly detail: string;
}

/** What a service needs and whether it has it. A change is told once; asking again tells the present state. */
export class Health {
  private readonly troubles = new Map<string, string>();
  private readonly listeners: ((change: HealthChange) => void)[] = [];

  onChange(listener: (change: HealthChange) => void): void {
    this.listeners.push(listener);
  }

  /** `detail` null: the dependency is fine again. */
  report(dependency: string, detail: string | null): void {
    const before = this.troubles.get(dependency);
    if (detail === null) this.troubles.delete(dependency);
    else this.troubles.set(dependency, detail);
    if ((before === undefined) === (detail === null)) return;
    for (const listener of this.listeners)
      listener({ dependency, status: detail === null ? 'ok' : 'degraded', detail: detail ?? 'back' });
  }

  get current(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.troubles);
  }
}
