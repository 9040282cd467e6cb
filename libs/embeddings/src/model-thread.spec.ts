import { afterEach, describe, expect, it } from '@jest/globals';
import { ModelThread } from './model-thread.js';

/** A thread that counts what it was asked, and does what it is told. */
const OBEDIENT = `
const { parentPort } = require('node:worker_threads');
let asked = 0;
parentPort.on('message', (text) => {
  asked += 1;
  if (text === 'exit') process.exit(3);
  if (text === 'throw') throw new Error('out of memory, say');
  parentPort.postMessage(text === 'refuse' ? { error: 'no such word' } : { vector: [asked] });
});
`;

describe('the thread of the model', () => {
  let thread: ModelThread;
  afterEach(() => thread.end());

  it.each([
    ['throw', 'out of memory, say'],
    ['exit', 'its thread has ended'],
  ])('is replaced by the next text when it died by %s', async (text, reason) => {
    thread = new ModelThread(OBEDIENT);
    expect(await thread.vectorOf('a')).toEqual([1]);
    expect(await thread.vectorOf('b')).toEqual([2]);
    await expect(thread.vectorOf(text)).rejects.toMatchObject({ kind: 'model-failed', message: expect.stringContaining(reason) });
    expect(await thread.vectorOf('c')).toEqual([1]);
  });

  it('lives on after a text that it could not embed', async () => {
    thread = new ModelThread(OBEDIENT);
    await expect(thread.vectorOf('refuse')).rejects.toMatchObject({ kind: 'model-failed' });
    expect(await thread.vectorOf('a')).toEqual([2]);
  });

  it('is not started again after its end', async () => {
    thread = new ModelThread(OBEDIENT);
    const running = thread.vectorOf('a');
    const failure = expect(running).rejects.toMatchObject({ kind: 'closed' });
    await thread.end();
    await failure;
    await expect(thread.vectorOf('a')).rejects.toMatchObject({ kind: 'closed' });
  });
});
