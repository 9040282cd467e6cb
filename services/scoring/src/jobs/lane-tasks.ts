import { rpcSubject } from '#contracts';
import type { ServiceRuntime } from '#service';
import { ask, NobodyAnswers } from '../nats/requests.js';
import type { JobStore } from '../postgres/job-store.js';
import type { VerifierStore } from '../postgres/verifier-store.js';
import type { Verifiers } from '../verifiers.js';
import { EmbeddingEvaluator } from './embedding-evaluator.js';
import { JudgeEvaluator, type MaySpend } from './judge-evaluator.js';
import type { LaneTasks } from './lanes.js';
import type { ModelServices } from './model-services.js';
import { OwnEvaluator, type OwnTransport } from './own-evaluator.js';
import type { ProviderHealth } from './provider-health.js';
import { Trouble } from './trouble.js';
import { ValueTask } from './value-task.js';
import { VerifyTask, type AskVerifier } from './verify-task.js';
import { callWebhook } from './webhook.js';

export interface LaneParts {
  readonly store: JobStore;
  readonly verifierStore: VerifierStore;
  readonly verifiers: Verifiers;
  readonly models: ModelServices;
  readonly health: ProviderHealth;
}

/** What each lane asks, and how it is reached from this process. */
export function laneTasks(runtime: ServiceRuntime, { store, verifierStore, verifiers, models, health }: LaneParts): LaneTasks {
  const { settings } = runtime.parts;
  const hasCostLimit: MaySpend = async (project) => (await settings.of(project)).max_cost_usd > 0;
  const ofModel = health.ofModel.bind(health);
  const maySpend = async (project: string, spentUsd: number): Promise<boolean> => {
    const { max_cost_usd: most } = await settings.of(project);
    return most <= 0 || (await store.spentToday(project)) + spentUsd < most;
  };
  return {
    judge: new ValueTask(store, new JudgeEvaluator(models.judges, models.prices, hasCostLimit), ofModel, maySpend),
    embedding: new ValueTask(
      store,
      new EmbeddingEvaluator((model) => models.embedder(model), models.prices, hasCostLimit),
      ofModel,
      maySpend,
    ),
    own: new ValueTask(store, new OwnEvaluator(ownTransport(runtime)), health.ofProject.bind(health)),
    verifier: new VerifyTask(verifierStore, verifiers, askVerifier(runtime)),
  };
}

const REST_MS = 5_000;

function ownTransport({ loaded, parts: { nats } }: ServiceRuntime): OwnTransport {
  return {
    webhook: (url, request, options) => callWebhook(url, request, { ...options, allowedHosts: loaded.process.webhook_hosts }),
    responder: async (project, request, options) => {
      try {
        return await ask(nats, rpcSubject(project, 'metric', request.metric), request, options);
      } catch (error) {
        if (!(error instanceof NobodyAnswers)) throw error;
        throw new Trouble({ kind: 'rest', code: 'unavailable', error: error.message, delayMs: REST_MS });
      }
    },
  };
}

function askVerifier({ parts: { nats, settings } }: ServiceRuntime): AskVerifier {
  return async (project, request, signal) => {
    const { verify_timeout_s: timeoutS } = await settings.of(project);
    try {
      return { value: await ask(nats, rpcSubject(project, 'verify'), request, { timeoutMs: timeoutS * 1000, signal }) };
    } catch (error) {
      if (error instanceof NobodyAnswers) return null;
      throw error;
    }
  };
}
