/** One tool call as an agent makes it, and what comes of it. */
export interface PlannedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: unknown;
  /** The call fails with this text. */
  readonly error?: string;
}

/** What an agent does in one turn. An empty answer is none: the model was asked and said nothing. */
export interface PlannedTurn {
  readonly request: string;
  readonly answer: string;
  readonly calls: readonly PlannedCall[];
}

/** A way in which the agents of this fleet fail, and the rule that would help against it. */
export interface FailureMode {
  readonly scope: string;
  readonly description: string;
  /** The metric that breaches when it happens. */
  readonly metric: 'tool_correctness' | 'argument_correctness';
  readonly advice: string;
  /** A rule that makes it worse. */
  readonly badAdvice: string;
  /** A rule that reads well and changes nothing. */
  readonly idleAdvice: string;
  readonly well: (order: number) => PlannedTurn;
  readonly badly: (order: number) => PlannedTurn;
}

const found = (order: number): PlannedCall => ({ tool: 'find_order', args: { order_id: order }, result: { state: 'shipped' } });
const schema = (properties: Readonly<Record<string, string>>): Record<string, unknown> => ({
  ...{ type: 'object', required: Object.keys(properties), additionalProperties: false },
  properties: Object.fromEntries(Object.entries(properties).map(([name, type]) => [name, { type }])),
});

/** The tool catalogue of every agent of the fleet. */
export const fleetTools = [
  { name: 'find_order', description: 'Finds an order.', parameters: schema({ order_id: 'integer' }) },
  {
    name: 'refund_order',
    description: 'Pays back part of an order.',
    parameters: schema({ order_id: 'integer', cents: 'integer' }),
  },
  {
    name: 'cancel_order',
    description: 'Cancels an order that was not shipped yet.',
    parameters: schema({ order_id: 'integer' }),
  },
  { name: 'send_order', description: 'Sends an order again.', parameters: schema({ order_id: 'integer', address: 'string' }) },
  { name: 'search_help', description: 'Searches the help pages.', parameters: schema({ query: 'string' }) },
];

export const failureModes = {
  /** Cancels where it should refund: the tool refuses. */
  misused_tool: {
    ...{ scope: 'refunds', description: 'Refunds and returns of orders.', metric: 'tool_correctness' },
    advice: 'When an order was shipped, refund it with refund_order instead of cancelling it.',
    badAdvice: 'Cancel an order first, whatever its state, before anything else is tried.',
    idleAdvice: 'Name the amount of a refund with its currency.',
    well: (order) => ({
      request: `Please refund my order ${order}.`,
      answer: `I refunded your order ${order}.`,
      calls: [found(order), { tool: 'refund_order', args: { order_id: order, cents: 500 }, result: { refunded: 500 } }],
    }),
    badly: (order) => ({
      request: `Please refund my order ${order}.`,
      answer: `I could not refund your order ${order}.`,
      calls: [{ tool: 'cancel_order', args: { order_id: order }, result: null, error: `Error: order ${order} was shipped` }],
    }),
  },
  /** Leaves the address out: the tool does nothing and says so quietly, and the agent ends without an answer. */
  missing_argument: {
    ...{ scope: 'shipping', description: 'Sending orders again.', metric: 'argument_correctness' },
    advice: 'Always give send_order the address of the customer, as find_order has it.',
    badAdvice: 'Leave the address out of send_order, since the order knows it.',
    idleAdvice: 'Mention the carrier when an order is sent again.',
    well: (order) => ({
      request: `My order ${order} never came.`,
      answer: `I sent your order ${order} again.`,
      calls: [found(order), { tool: 'send_order', args: { order_id: order, address: 'Main Street 1' }, result: { sent: true } }],
    }),
    badly: (order) => ({
      request: `My order ${order} never came.`,
      answer: '',
      calls: [{ tool: 'send_order', args: { order_id: order }, result: { sent: false } }],
    }),
  },
  /** Asks the same again and again though it fails. */
  loop: {
    ...{ scope: 'help-pages', description: 'Questions that the help pages answer.', metric: 'tool_correctness' },
    advice: 'When search_help fails, do not ask the same again: answer from what is known, or hand over.',
    badAdvice: 'When search_help fails, repeat the same query until it answers.',
    idleAdvice: 'Quote the title of a help page when you answer from it.',
    well: (order) => ({
      request: `How long may I return order ${order}?`,
      answer: `You may return order ${order} within 30 days.`,
      calls: [{ tool: 'search_help', args: { query: 'return period' }, result: { title: 'Returns', days: 30 } }],
    }),
    badly: (order) => ({
      request: `How long may I return order ${order}?`,
      answer: `I do not know about order ${order}.`,
      calls: Array.from({ length: 4 }, () => ({
        tool: 'search_help',
        args: { query: 'return' },
        result: null,
        error: 'Error: too many results',
      })),
    }),
  },
} as const satisfies Readonly<Record<string, FailureMode>>;

export type ModeName = keyof typeof failureModes;
export const modeNames = Object.keys(failureModes) as readonly ModeName[];
