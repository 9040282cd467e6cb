import type { Health } from '#observability';
import type { ClaimedJob } from '../postgres/job-claims.js';

/** Whose trouble, and of which project; null where the provider is the same for all projects. */
interface Named {
  readonly project: string | null;
  readonly provider: string;
}

/** What this process has found of the providers that it asks. Each has a state of its own, or one that is well would speak for another. */
export class ProviderHealth {
  private readonly troubled = new Map<string, Named>();

  constructor(private readonly health: Pick<Health, 'report'>) {}

  /** Of a model, which is the same for all projects. `detail` null: it is well. */
  ofModel({ provider }: Pick<ClaimedJob, 'provider'>, detail: string | null): void {
    this.say(provider, { project: null, provider }, detail);
  }

  /** Of a project's own evaluator. */
  ofProject({ project, provider }: Pick<ClaimedJob, 'project' | 'provider'>, detail: string | null): void {
    this.say(`${project} ${provider}`, { project, provider }, detail);
  }

  get isTroubled(): boolean {
    return this.troubled.size > 0;
  }

  /** Takes back what was said of providers of which no trouble is stored: somebody else was answered, or nobody asks them any more. */
  takeBack(stored: readonly { readonly project: string; readonly provider: string }[]): void {
    for (const [name, { project, provider }] of [...this.troubled]) {
      const still = stored.some((one) => one.provider === provider && (project === null || one.project === project));
      if (!still) this.say(name, { project, provider }, null);
    }
  }

  private say(name: string, named: Named, detail: string | null): void {
    if (detail === null) this.troubled.delete(name);
    else this.troubled.set(name, named);
    this.health.report(name, detail);
  }
}
