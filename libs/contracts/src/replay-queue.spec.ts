import { expect, it } from '@jest/globals';
import { replayFinished, replayRequested, replayStarted, replayTurn } from './replay.events.js';
import { REPLAY_STREAM, replaySubject } from './replay-queue.js';

it.each([replayRequested, replayStarted, replayFinished, replayTurn])('names the subject of $type as its event does', (event) => {
  expect(replaySubject('shop', event.type as Parameters<typeof replaySubject>[1])).toBe(event.subject('shop'));
});

it('names the stream of the requests', () => {
  expect(replayRequested.stream).toBe(REPLAY_STREAM);
});
