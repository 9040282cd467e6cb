import type { SettleAnswer, SettleRequest } from '../../contracts/src/http-settle.js';
import type { RuleTool, RuleToolInput, RuleToolOutput } from '../../contracts/src/rule-tools.js';

/** For whom rules are read. Without a session only proven rules are answered, and the read tells nothing about any session. */
export interface ReadFor {
  readonly session?: string | undefined;
  /** The turn that the session is in. */
  readonly turn?: number | undefined;
}

export interface Question<Tool extends RuleTool = RuleTool> {
  readonly tool: Tool;
  readonly input: RuleToolInput<Tool>;
  readonly reader: ReadFor;
}

export type AnyAnswer = RuleToolOutput<RuleTool>;

/** `same`: what was answered under the tag that was shown still holds. */
export type Fresh = { readonly same: true } | { readonly same: false; readonly answer: AnyAnswer; readonly tag: string | null };

/** How questions reach the gateway. */
export interface Transport {
  /** Whether changes of rules are told as they happen. */
  readonly told: boolean;
  /** Called with the new version of the rules, or with null when changes may have been missed. */
  onChange(listener: (version: number | null) => void): void;
  /** @throws FleetmendError */
  ask(question: Question, tag: string | null): Promise<Fresh>;
  /** @throws FleetmendError */
  settle(request: SettleRequest): Promise<SettleAnswer>;
  /** Resolves once the other side was reached. @throws FleetmendError when it refuses */
  connected(): Promise<void>;
  close(): Promise<void>;
}

/** A read is in the agent's way: whoever does not answer within this is not waited for. */
export const READ_MS = 5_000;
