/** A call as the model asked for it. `arguments` as recorded: mostly JSON text, which may be wrong. */
export interface MessageToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export interface Message {
  readonly role: string;
  /** The words; empty for a message of tool calls only. For `tool`: what the tool answered. */
  readonly content: string;
  readonly tool_calls?: readonly MessageToolCall[];
  /** Of a `tool` message: which call it answers. */
  readonly tool_call_id?: string;
  /** Of a `tool` message: the tool's name, where said. */
  readonly name?: string;
  /** Of a `tool` message that reports a failure. */
  readonly is_error?: true;
}

/** The normal form of a model call's input and output. */
export interface Conversation {
  readonly messages: readonly Message[];
}
