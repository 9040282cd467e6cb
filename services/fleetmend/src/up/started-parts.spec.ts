import { describe, expect, it } from '@jest/globals';
import { StartedParts } from './started-parts.js';
import { Stopping } from './stopping.js';

const noteIn =
  (list: string[]) =>
  (name: string): Promise<void> => {
    list.push(name);
    return Promise.resolve();
  };

describe('what was started', () => {
  it('is stopped in the opposite order, a layer at a time', async () => {
    const stopped: string[] = [];
    const parts = new StartedParts(new Stopping());
    const part = (name: string): Promise<string> => parts.start(name, Promise.resolve(name), noteIn(stopped));
    await part('servers');
    parts.layer();
    await part('scoring');
    await part('gating');
    parts.layer();
    await part('gateway');
    await parts.stopAll();
    expect(stopped).toEqual(['gateway', 'scoring', 'gating', 'servers']);
    await parts.stopAll();
    expect(stopped).toHaveLength(4);
  });

  it('is stopped also when it is still starting when the end is asked for', async () => {
    const stopping = new Stopping();
    const parts = new StartedParts(stopping);
    const stopped: string[] = [];
    let started: (name: string) => void = () => undefined;
    const slow = parts.start('slow', new Promise<string>((resolve) => (started = resolve)), noteIn(stopped));
    stopping.fail(new Error('the end'));
    await expect(slow).rejects.toThrow('the end');
    const all = parts.stopAll();
    started('slow');
    await all;
    expect(stopped).toEqual(['slow']);
  });
});
