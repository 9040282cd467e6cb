import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { projectSettings } from '#contracts';
import { scriptedModel, modelError } from '../../fixtures/scripted-model.js';
import { booking, taskFor, trace } from '../../fixtures/traces.js';
import { checkOwnJudge, judge, type OutputRule, type OwnJudge } from '../index.js';

const boolean: OutputRule = { kind: 'boolean' };
const grade: OutputRule = { kind: 'choice', values: { good: 1, fair: 0.6, bad: 0 } };
const own = (prompt: string, output: OutputRule = boolean): OwnJudge => ({ prompt, output });

describe('checkOwnJudge', () => {
  it.each([
    own('Is {{answer}} polite? It was asked {{ request }}.'),
    own('{{trace}}{{tools}}{{task_summary}}{{end_state}}', { kind: 'score', min: 1, max: 5 }),
    own('{{answer}}', grade),
  ])('finds nothing wrong with %j', (definition) => {
    expect(checkOwnJudge(definition)).toEqual([]);
  });

  it.each([
    [own('Is {{reply}} polite? {{answer}}'), '{{reply}} is not a placeholder; known are {{request}}, {{answer}}'],
    [own('Is it polite?'), 'the prompt asks to see nothing'],
    [own('  '), 'the prompt is empty'],
    [own(`{{answer}}${'x'.repeat(20_000)}`), 'longer than 20000'],
    [own('{{answer}}', { kind: 'score', min: 1, max: 1 }), 'less than the largest'],
    [own('{{answer}}', { kind: 'score', min: 0, max: Infinity }), 'less than the largest'],
    [own('{{answer}}', { kind: 'choice', values: { only: 1 } }), 'two answers'],
    [own('{{answer}}', { kind: 'choice', values: { a: 0, b: 2 } }), '"b" is worth 2'],
    [own('{{answer}}', { kind: 'choice', values: { a: NaN, b: 1 } }), '"a" is worth NaN'],
    [own('{{answer}}', { kind: 'stars' } as unknown as OutputRule), 'not "stars"'],
  ])('says what is wrong (%#)', (definition, message) => {
    expect(checkOwnJudge(definition).join()).toContain(message);
  });

  it('refuses what the settings refuse, and nothing else', () => {
    const pieces = fc.constantFrom('{{answer}}', '{{ trace }}', '{{answer', '{{', '}}', '{{reply}}', 'polite?', ' ');
    const prompt = fc.array(pieces, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    const bound = fc.constantFrom(0, 1, 5, -1, 1e308, -1e308);
    const worth = fc.constantFrom(0, 0.5, 1, 2, -0.1);
    const output = fc.oneof(
      fc.constant(boolean),
      fc.record({ kind: fc.constant('score' as const), min: bound, max: bound }),
      fc.record({
        kind: fc.constant('choice' as const),
        values: fc.dictionary(fc.constantFrom('a', 'b', ' ', 'constructor'), worth, { maxKeys: 4, noNullPrototype: true }),
      }),
    );
    fc.assert(
      fc.property(prompt, output, (text, rule) => {
        const kindness = { kind: 'judge', prompt: text, output: rule };
        const taken = projectSettings.safeParse({ metrics: { kindness } }).success;
        expect([text, rule, taken]).toEqual([text, rule, checkOwnJudge(own(text, rule)).length === 0]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('takes a prompt of nothing but white space after braces in its stride', () => {
    expect(checkOwnJudge(own(`{{answer}} {{${' '.repeat(19_000)}`))).toEqual([]);
  });
});

describe('a judge that a project registered', () => {
  const ask = (definition: OwnJudge, answer: object, of = booking) => {
    const model = scriptedModel({ kindness: answer });
    const inTurn = {
      tools: [{ name: 'search' }],
      task_summary: 'a flight',
      end_state: { done: true, id: 12345678901234567890n },
    };
    return judge(taskFor('kindness', of, { definition, inTurn }), model).then((outcome) => ({ outcome, model }));
  };

  it.each([
    [{ kind: 'score', min: 1, max: 5 }, 4, 0.75],
    [{ kind: 'score', min: 1, max: 5 }, '1', 0],
    [{ kind: 'score', min: -1, max: 1 }, 1, 1],
    [boolean, true, 1],
    [boolean, 'False', 0],
    [grade, 'fair', 0.6],
  ] as const)('maps its answer to [0, 1]: %j, %j', async (output, answer, value) => {
    const { outcome } = await ask(own('{{answer}}', output), { reason: 'why', answer });
    expect(outcome).toMatchObject({ status: 'scored', value, reason: 'why' });
  });

  it.each([
    [{ kind: 'score', min: 1, max: 5 }, 6],
    [{ kind: 'score', min: 1, max: 5 }, '4/5'],
    [{ kind: 'score', min: 1, max: 5 }, true],
    [boolean, 1],
    [grade, 'excellent'],
    [grade, 'toString'],
  ] as const)('refuses an answer outside its rule: %j, %j', async (output, answer) => {
    const { outcome } = await ask(own('{{answer}}', output), { reason: '', answer });
    expect(outcome).toMatchObject({ status: 'failed', code: 'invalid_output', value: null });
  });

  it('sees each text it asks for behind one fence, and nothing else', async () => {
    const { model } = await ask(own('Was {{answer}} kind, given {{ end_state }} and {{tools}} and {{task_summary}}?'), {
      reason: '',
      answer: true,
    });
    expect(model.questions[0]?.user).toBe(
      'Was \n<data-1 name="answer">\nLH1 is booked for 90 euros.\n</data-1>\n kind, given ' +
        '\n<data-1 name="end_state">\n{"done":true,"id":"12345678901234567890"}\n</data-1>\n and ' +
        '\n<data-1 name="tools">\nsearch\n</data-1>\n and \n<data-1 name="task_summary">\na flight\n</data-1>\n?',
    );
  });

  it('is not applicable without a call when nothing that it asks for was recorded', async () => {
    const { outcome, model } = await ask(own('{{answer}} {{trace}}'), { reason: '', answer: true }, trace([], { input: 'x' }));
    expect(outcome).toMatchObject({ status: 'not_applicable', code: 'no_evidence', value: null });
    expect(model.questions).toEqual([]);
  });

  it('fails when its definition cannot be used', async () => {
    const { outcome } = await ask(own('{{reply}}'), {});
    expect(outcome).toMatchObject({ status: 'failed', code: 'bad_definition', value: null });
  });

  it('is asked again about a shorter trace when that was too long', async () => {
    const long = trace(
      Array.from({ length: 20 }, (_, at) => ({
        span_id: `s${at}`,
        name: 'x',
        kind: 'TOOL' as const,
        status: 'OK' as const,
        output: `${at} ${'word '.repeat(200)}`,
      })),
    );
    const model = scriptedModel({ kindness: [modelError('context_length'), { reason: '', answer: true }] });
    const outcome = await judge(taskFor('kindness', long, { definition: own('{{trace}}') }), model);
    expect(outcome).toMatchObject({ status: 'scored', value: 1, usage: { calls: 2 } });
    expect(model.questions[1]?.user.length).toBeLessThan((model.questions[0]?.user.length ?? 0) / 1.5);
  });

  it('keeps the texts of the template when they hold replacement patterns', async () => {
    const dollars = trace([], { input: 'x', output: "costs $& or $' more" });
    const { model } = await ask(own('{{answer}}'), { reason: '', answer: true }, dollars);
    expect(model.questions[0]?.user).toContain("costs $& or $' more");
  });
});
