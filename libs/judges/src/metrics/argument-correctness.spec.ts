import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scriptedModel, type Answer } from '../../fixtures/scripted-model.js';
import { taskFor, toolSpan, trace } from '../../fixtures/traces.js';
import { judge } from '../index.js';
import type { JudgeOutcome, Question } from '../task.js';

type Said = readonly [id: string, correct: string, reason?: string];

const verdicts = (...list: readonly Said[]): Answer => ({
  verdicts: list.map(([id, correct, reason = 'fits']) => ({ id, correct, reason })),
});
const traceOf = (count: number) =>
  trace(
    Array.from({ length: count }, (_, at) => toolSpan(`span-${at + 1}`, { input: { at: at + 1 } })),
    { input: 'do', output: 'done' },
  );
const judged = (count: number, answer: Answer | readonly Answer[]): Promise<JudgeOutcome> =>
  judge(taskFor('argument_correctness', traceOf(count)), scriptedModel({ argument_correctness: answer }));
/** The ids that a question lists. */
const idsIn = ({ user }: Question<unknown>): string[] =>
  [...(/name="calls">([\s\S]*?)<\/data/.exec(user)?.[1] ?? '').matchAll(/^(c\d+)\. /gm)].map(([, id = '']) => id);

describe('argument_correctness by a judge', () => {
  it('is yes / calls, and its reason is made of the reasons of the others', async () => {
    const outcome = await judged(
      4,
      verdicts(['c1', 'yes'], ['c2', 'no', 'the date is wrong.'], ['c4', 'no', 'no such\nid'], ['c3', 'Yes ']),
    );
    expect(outcome).toMatchObject({ status: 'scored', value: 0.5, spans: ['span-2', 'span-4'] });
    expect(outcome.reason).toBe(
      'Wrong arguments in 2 of 4 tool calls: "book" (span span-2): the date is wrong; "book" (span span-4): no such id.',
    );
  });

  it.each([
    [
      'missing',
      [
        ['c1', 'yes'],
        ['c2', 'yes'],
      ],
      /no verdict for c3/,
    ],
    ['missing altogether', [], /no verdict for c1, c2, c3/],
    [
      'unknown',
      [
        ['c1', 'yes'],
        ['c2', 'yes'],
        ['c9', 'yes'],
      ],
      /"c9" was judged twice or was not asked about/,
    ],
    [
      'there twice',
      [
        ['c1', 'yes'],
        ['c1', 'yes'],
        ['c2', 'yes'],
        ['c3', 'yes'],
      ],
      /"c1" was judged twice/,
    ],
  ] as const)('is failed, not a yes, when an id is %s', async (_what, said, reason) => {
    const outcome = await judged(3, verdicts(...said));
    expect(outcome).toMatchObject({ status: 'failed', code: 'invalid_output', value: null });
    expect(outcome.reason).toMatch(reason);
  });

  it('accepts ids as the trace shows them, in brackets', async () => {
    expect(await judged(1, verdicts(['[c1]', 'yes']))).toMatchObject({
      value: 1,
      reason: 'The arguments of all 1 tool call were correct.',
    });
  });

  it('asks about many calls in groups, each call once', async () => {
    const model = scriptedModel({
      argument_correctness: (question) => verdicts(...idsIn(question).map((id): Said => [id, id === 'c40' ? 'no' : 'yes'])),
    });
    const outcome = await judge(taskFor('argument_correctness', traceOf(40)), model);
    expect(outcome).toMatchObject({ value: 39 / 40, spans: ['span-40'], usage: { calls: 3 } });
    const asked = model.questions.flatMap(idsIn);
    expect(asked).toEqual(Array.from({ length: 40 }, (_, at) => `c${at + 1}`));
  });

  it('puts fewer calls with long arguments into one question', async () => {
    const long = trace(
      Array.from({ length: 6 }, (_, at) => toolSpan(`s${at}`, { input: { text: `${at} ${'word '.repeat(500)}` } })),
      { input: 'do' },
    );
    const model = scriptedModel({
      argument_correctness: (question) => verdicts(...idsIn(question).map((id): Said => [id, 'yes'])),
    });
    await judge(taskFor('argument_correctness', long), model);
    expect(model.questions.length).toBeGreaterThan(1);
    for (const { user } of model.questions) expect(model.countTokens(user)).toBeLessThan(4200);
  });

  it('shows the schema of the tools, and ids only of calls', async () => {
    const model = scriptedModel({ argument_correctness: verdicts(['c1', 'yes']) });
    const tools = [{ name: 'book', description: 'books', parameters: { required: ['flight'] } }, { name: 'other' }];
    await judge(taskFor('argument_correctness', traceOf(1), { inTurn: { tools } }), model);
    const user = model.questions[0]?.user ?? '';
    expect(user).toContain('book: books\n   parameters: {"required":["flight"]}');
    expect(user).toContain('TOOL book [c1]');
    expect(user).not.toMatch(/span-1|other/);
  });

  it('leaves calls without recorded arguments out of the count, and says so', async () => {
    const mixed = trace([toolSpan('a', { input: undefined }), toolSpan('b'), toolSpan('c', { input: null })], { input: 'do' });
    const outcome = await judge(
      taskFor('argument_correctness', mixed),
      scriptedModel({ argument_correctness: verdicts(['c2', 'no', 'x'], ['c3', 'yes']) }),
    );
    expect(outcome).toMatchObject({ value: 0.5, spans: ['b'] });
    expect(outcome.reason).toContain('(1 more recorded no arguments and were not judged)');
  });

  it('has a value only when the verdicts are exactly the calls, whatever the model says', async () => {
    const said = fc.array(fc.tuple(fc.constantFrom('c1', 'c2', 'c3', 'c4'), fc.constantFrom('yes', 'no')), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(said, async (list) => {
        const { status, value } = await judged(3, verdicts(...list));
        const exact =
          list
            .map(([id]) => id)
            .sort()
            .join() === 'c1,c2,c3';
        expect(status).toBe(exact ? 'scored' : 'failed');
        expect(value).toBe(exact ? list.filter(([, correct]) => correct === 'yes').length / 3 : null);
      }),
    );
  });
});
