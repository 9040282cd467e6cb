import type { ToolInput } from './shapes.js';

/** One tool call of a sample turn; `error` instead of `result` when it failed. */
export interface SampleCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: string;
}

export interface SampleTurn {
  readonly user: string;
  readonly calls: readonly SampleCall[];
  readonly answer: string;
}

export interface SampleSession {
  readonly id: string;
  readonly summary: string;
  readonly topic: { readonly key: string; readonly description: string };
  readonly turns: readonly SampleTurn[];
}

function schema(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const orderId = { type: 'string', pattern: '^A-[0-9]{4}$' };

export const sampleTools: readonly ToolInput[] = [
  { name: 'find_order', description: 'Finds an order by its number.', parameters: schema({ order_id: orderId }) },
  { name: 'read_policy', description: 'Reads the policy on a topic.', parameters: schema({ topic: { type: 'string' } }) },
  {
    name: 'issue_refund',
    description: 'Refunds an amount of an order, in cents.',
    parameters: schema({ order_id: orderId, amount_cents: { type: 'integer', minimum: 1 }, reason: { type: 'string' } }),
  },
  {
    name: 'change_address',
    description: 'Changes where an order is delivered.',
    parameters: schema({ order_id: orderId, street: { type: 'string' }, city: { type: 'string' } }),
  },
  {
    name: 'create_ticket',
    description: 'Opens a ticket for a colleague.',
    parameters: schema({ summary: { type: 'string' }, priority: { enum: ['low', 'normal', 'high'] } }),
  },
];

function found(order: string, status: string): SampleCall {
  return { tool: 'find_order', arguments: { order_id: order }, result: { order_id: order, status } };
}

function policy(topic: string, text: string): SampleCall {
  return { tool: 'read_policy', arguments: { topic }, result: text };
}

function ticket(summary: string, priority: string, number: string): SampleCall {
  return { tool: 'create_ticket', arguments: { summary, priority }, result: { ticket: number } };
}

/** The fault of the stuck session: an amount in euros, as text, where the tool takes an integer of cents. */
function badRefund(amount: string, reason: string): SampleCall {
  return {
    tool: 'issue_refund',
    arguments: { order_id: 'A-2002', amount_cents: amount, reason },
    error: `Error: amount_cents must be an integer, got "${amount}"`,
  };
}

function address(street: string, failed: boolean): SampleCall {
  const call = { tool: 'change_address', arguments: { order_id: 'A-3003', street, city: 'Lyon' } };
  return failed ? { ...call, error: 'Error: address service timed out after 5000 ms' } : { ...call, result: { changed: true } };
}

function turn(user: string, calls: readonly SampleCall[], answer: string): SampleTurn {
  return { user, calls, answer };
}

const healthy: SampleSession = {
  id: 'sample-desk-healthy',
  summary: 'Answer questions about order A-1001 and send a replacement part.',
  topic: { key: 'orders', description: 'Questions about orders and their delivery.' },
  turns: [
    turn('Hello, can you help me with an order?', [], 'Hello! Of course. What is the number of your order?'),
    turn(
      'The order is A-1001. Where is it?',
      [found('A-1001', 'shipped')],
      'Your order A-1001 has been shipped and is on its way.',
    ),
    turn(
      'When will the order arrive?',
      [policy('delivery', '2 to 4 working days')],
      'A shipped order arrives in 2 to 4 working days.',
    ),
    turn(
      'Can I return it if it does not fit?',
      [policy('returns', '30 days, unused')],
      'Yes, you can return it unused within 30 days.',
    ),
    turn('Do I have to pay for the return?', [policy('return cost', 'free')], 'No, the return is free for you.'),
    turn(
      'One screw was missing last time.',
      [ticket('Missing screw in A-1001', 'low', 'T-11')],
      'I opened ticket T-11 for the missing screw.',
    ),
    turn(
      'How long does the ticket take?',
      [policy('tickets', 'one working day')],
      'A colleague answers the ticket within one working day.',
    ),
    turn(
      'Is there a warranty on the order?',
      [policy('warranty', '24 months')],
      'Yes, there is a warranty of 24 months on the order.',
    ),
    turn(
      'What does the warranty cover?',
      [policy('warranty cover', 'defects')],
      'The warranty covers defects of material and of making.',
    ),
    turn(
      'Has the order moved since?',
      [found('A-1001', 'out for delivery')],
      'The order is out for delivery since this morning.',
    ),
    turn('Great, thank you for your help!', [], 'Thank you too, and enjoy your order!'),
  ],
};

const sorry = 'I am sorry, the refund did not go through. I will try again.';

const stuck: SampleSession = {
  id: 'sample-desk-stuck',
  summary: 'Refund the damaged order A-2002.',
  topic: { key: 'refunds', description: 'Refunds of orders.' },
  turns: [
    turn('My order A-2002 came damaged. Please refund 49.90 euros.', [badRefund('49.90', 'damaged')], sorry),
    turn('Did the refund work now?', [badRefund('49.90 EUR', 'damaged')], 'The refund of 49.90 EUR was refused as well.'),
    turn(
      'Then refund it without the currency.',
      [badRefund('49,90', 'damaged')],
      'I left the currency out, but the refund failed once more.',
    ),
    turn(
      'Try a refund of the full price.',
      [found('A-2002', 'delivered'), badRefund('full', 'damaged')],
      'The full refund was not accepted.',
    ),
    turn(
      'Maybe refund half of it first?',
      [badRefund('24.95', 'half of a damaged order')],
      'Half of the refund failed too, sorry.',
    ),
    turn(
      'Please try the refund again.',
      [badRefund('49.90', 'damaged'), badRefund('49.90', 'damaged')],
      'I tried the refund twice, without success.',
    ),
    turn('Is the reason wrong perhaps?', [badRefund('49.90', 'goodwill')], 'I changed the reason, and the refund still fails.'),
    turn('I really need this refund.', [badRefund('EUR 49.90', 'damaged')], 'I understand. The refund failed again.'),
    turn('This is taking far too long.', [badRefund('49.90', 'other')], 'I am sorry for the wait, the refund is still failing.'),
  ],
};

const recovering: SampleSession = {
  id: 'sample-desk-recovering',
  summary: 'Change where order A-3003 is delivered.',
  topic: { key: 'addresses', description: 'Changes of delivery addresses.' },
  turns: [
    turn(
      'Hi, I moved and my order goes to the old address.',
      [],
      'Hi! I can change the address. What is the number of the order?',
    ),
    turn('It is order A-3003.', [found('A-3003', 'packed')], 'Order A-3003 is packed, so its address can still be changed.'),
    turn(
      'Is changing the address free?',
      [policy('address change', 'free until shipped')],
      'Changing the address is free until it is shipped.',
    ),
    turn(
      'What do you need for the change?',
      [policy('address fields', 'street, city')],
      'For the change I need the street and the city.',
    ),
    turn(
      '12 Rue Hugo, Lyon.',
      [address('12 Rue Hugo', true)],
      'I could not change it to 12 Rue Hugo: the service did not answer.',
    ),
    turn(
      'Please try again.',
      [address('12 Rue Hugo', true), address('12 Rue Hugo', true)],
      'I tried again and it timed out again.',
    ),
    turn('And now?', [address('12 Rue Hugo', false)], 'Now it worked: order A-3003 goes to 12 Rue Hugo in Lyon.'),
    turn(
      'Can you check the order once more?',
      [found('A-3003', 'packed')],
      'I checked the order: it is packed, with the new address.',
    ),
    turn('Do I get a confirmation?', [policy('confirmation', 'by e-mail')], 'Yes, you get the confirmation by e-mail.'),
    turn('Perfect, thanks.', [], 'With pleasure, thanks for your patience!'),
  ],
};

export const sampleSessions: readonly SampleSession[] = [healthy, stuck, recovering];
