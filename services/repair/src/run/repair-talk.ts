import {
  afterCall,
  afterReply,
  assignment,
  beginConversation,
  instruct,
  instructionText,
  mayCall,
  nextStep,
  NOT_EXECUTED,
  systemPrompt,
  type Conversation,
  type ConversationEnd,
} from '#domain/repair';
import { addUsage, NO_USAGE, ModelError, type ChatMessage, type ChatReply, type ToolCall, type Usage } from '#llm';
import { requestSettings, type RepairModel } from '../model/repair-model.js';
import { toolDefinitions } from '../tools/tool-declarations.js';
import type { Toolbox } from '../tools/toolbox.js';
import type { RunContext } from './run-context.js';

/** One tool call as it went. Times are milliseconds since the epoch. */
export interface SpokenCall {
  readonly call: ToolCall;
  readonly outcome: 'read' | 'refused' | 'suppressed' | 'candidate' | 'resolved' | 'not_executed';
  readonly content: Readonly<Record<string, unknown>>;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** One turn of the model, with what its calls did. */
export interface SpokenTurn {
  readonly number: number;
  readonly reply: ChatReply;
  readonly startedAt: number;
  readonly repliedAt: number;
  readonly calls: readonly SpokenCall[];
}

/** Told of every turn when it is over. */
export type Listener = (turn: SpokenTurn) => Promise<void>;

/** How much longer a request may take to say what it has used, once it is aborted. */
const ABORT_GRACE_MS = 500;

/** The conversation of one run with its model. What it has come to is there whenever it ends. */
export class RepairTalk {
  conversation: Conversation;
  usage: Usage = NO_USAGE;
  readonly messages: ChatMessage[];

  constructor(
    private readonly context: RunContext,
    private readonly parts: { readonly model: RepairModel; readonly toolbox: Toolbox; readonly listener: Listener },
  ) {
    const { episode, facts, filing, settings } = context;
    const { fence, user } = assignment({
      ...facts,
      ...{ episodeId: episode.episode, recommendedScope: filing.recommended, domainPolicy: settings.domain_policy },
    });
    this.conversation = beginConversation(episode.candidate);
    this.messages = [
      { role: 'system', content: systemPrompt(fence, episode.candidate) },
      { role: 'user', content: user },
    ];
  }

  /** @throws ModelError, RunStopped, LeaseLost, or what a broken database throws */
  async run(): Promise<ConversationEnd> {
    const { repair_max_turns: maxTurns, repair_max_tokens: maxOutputTokens } = this.context.settings;
    for (;;) {
      const step = nextStep(this.conversation, { maxTurns, maxOutputTokens });
      if (step.kind === 'end') return step.end;
      await this.turn(step.maxOutputTokens);
    }
  }

  private async turn(maxOutputTokens: number): Promise<void> {
    const startedAt = Date.now();
    const reply = await this.ask(maxOutputTokens);
    const repliedAt = Date.now();
    const { toolCalls, usage, message } = reply;
    this.messages.push(message);
    this.conversation = afterReply(this.conversation, { outputTokens: usage.outputTokens, calls: toolCalls.length });
    const calls: SpokenCall[] = [];
    for (const call of toolCalls) calls.push(await this.carryOut(call));
    await this.context.time.race(this.parts.listener({ number: this.conversation.turns, reply, startedAt, repliedAt, calls }));
    this.instruct(toolCalls.length);
  }

  private async ask(maxOutputTokens: number): Promise<ChatReply> {
    const { model, settings, time } = this.context;
    const request = { ...requestSettings(model, settings), messages: this.messages, tools: toolDefinitions, maxOutputTokens };
    try {
      const reply = await time.race(this.parts.model.endpoint.chat({ ...request, signal: time.signal }), ABORT_GRACE_MS);
      this.usage = addUsage(this.usage, reply.usage);
      return reply;
    } catch (error) {
      if (error instanceof ModelError) this.usage = addUsage(this.usage, error.usage);
      throw error;
    }
  }

  private async carryOut(call: ToolCall): Promise<SpokenCall> {
    const startedAt = Date.now();
    const { outcome, content } = await this.answer(call);
    this.messages.push({ role: 'tool', toolCallId: call.id, content: JSON.stringify(content) });
    return { call, outcome, content, startedAt, endedAt: Date.now() };
  }

  private async answer(call: ToolCall): Promise<Pick<SpokenCall, 'outcome' | 'content'>> {
    if (!mayCall(this.conversation)) return { outcome: 'not_executed', content: { ok: false, error: NOT_EXECUTED } };
    const { time } = this.context;
    const { outcome, content } = await time.race(this.parts.toolbox.call(call, this.context, this.conversation));
    this.conversation = afterCall(this.conversation, outcome);
    return { outcome: outcome.kind, content };
  }

  private instruct(lastCalls: number): void {
    const [conversation, instruction] = instruct(this.conversation, lastCalls);
    this.conversation = conversation;
    if (instruction !== null) this.messages.push({ role: 'user', content: instructionText(instruction) });
  }
}
