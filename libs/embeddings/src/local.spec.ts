import { afterAll, describe, expect, it } from '@jest/globals';
import { cosine, EmbeddingError, LOCAL_TEXT_CHARACTERS, localEmbedder, type LocalEmbedder } from './index.js';

const open: LocalEmbedder[] = [];
function embedder(): LocalEmbedder {
  const one = localEmbedder();
  open.push(one);
  return one;
}
afterAll(() => Promise.all(open.map((one) => one.close())));

const REFUND = 'Please cancel my flight to Boston and refund me.';
const shared = embedder();

describe('the local embedder', () => {
  it('puts an answer nearer to its request than something unrelated', async () => {
    const { vectors, usage } = await shared.embed([
      REFUND,
      'Your reservation was cancelled; the money is back on your card.',
      'The museum opens at nine on Sundays.',
    ]);
    const [asked, answered, unrelated] = vectors as [number[], number[], number[]];
    expect(cosine(asked, answered)).toBeGreaterThan(cosine(asked, unrelated));
    expect(vectors.map((vector) => vector.length)).toEqual([512, 512, 512]);
    expect(usage).toMatchObject({ calls: 1, costUsd: 0 });
  });

  it('gives a text the same vector alone, in a batch and in a process that was just started', async () => {
    const alone = await shared.embed([REFUND]);
    const batch = await shared.embed(['Something else.', REFUND]);
    const fresh = await embedder().embed([REFUND]);
    expect(batch.vectors[1]).toEqual(alone.vectors[0]);
    expect(fresh.vectors).toEqual(alone.vectors);
  });

  it('reads only the beginning of a long text', async () => {
    const text = 'Where is my order? '.repeat(100);
    const { vectors } = await shared.embed([text, text.slice(0, LOCAL_TEXT_CHARACTERS)]);
    expect(vectors[0]).toEqual(vectors[1]);
  });

  it('embeds what is not English, or no words at all', async () => {
    const { vectors } = await shared.embed(['你好，我的订单在哪里？', '\ud83d', ' ', '42']);
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
  });

  it('answers many at once, each with its own', async () => {
    const texts = Array.from({ length: 6 }, (_, index) => `Order number ${index} is late.`);
    const answers = await Promise.all(texts.map((text) => shared.embed([text])));
    const together = await shared.embed(texts);
    expect(answers.map(({ vectors }) => vectors[0])).toEqual(together.vectors);
  });

  it('leaves the event loop free', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await shared.embed(['a', 'b', 'c', 'd'].map((text) => `${text} ${REFUND}`));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(4);
  });

  it('refuses an empty text, and more than may wait, at once', async () => {
    await expect(shared.embed([REFUND, ''])).rejects.toThrow(RangeError);
    await expect(shared.embed(Array.from({ length: 257 }, () => 'a'))).rejects.toMatchObject({ kind: 'busy' });
    expect((await shared.embed([REFUND])).vectors).toHaveLength(1);
  });

  it('stops for a signal, before, while and after its turn comes, and goes on with the next batch', async () => {
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const running = shared.embed([REFUND, REFUND, REFUND], controller.signal);
    const queued = shared.embed([REFUND], controller.signal);
    const other = shared.embed([REFUND]);
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expect(queued).rejects.toBe(reason);
    await expect(shared.embed([REFUND], controller.signal)).rejects.toBe(reason);
    expect((await other).vectors).toHaveLength(1);
  });

  it('ends what waits when it is closed, and refuses more', async () => {
    const closed = embedder();
    const running = closed.embed([REFUND]);
    const queued = closed.embed([REFUND]);
    const failures = Promise.allSettled([running, queued]);
    await closed.close();
    await closed.close();
    for (const { status, reason } of (await failures) as PromiseRejectedResult[])
      expect([status, reason.kind]).toEqual(['rejected', 'closed']);
    await expect(closed.embed([REFUND])).rejects.toThrow(EmbeddingError);
  });
});
