import { describe, expect, it } from '@jest/globals';
import { projectSettings } from '#contracts';
import { readableSettings } from './readable-settings.js';

const newer = { gate_window: 7, gate_of_tomorrow: true, gate_gain: -1, thresholds: { coherence: 0.4, tomorrow: 1 } };

describe("a project's settings row", () => {
  it('goes over the base', () => {
    expect(readableSettings({ gate_window: 2, gate_gain: 0.1 }, { gate_window: 3 }, undefined)).toEqual({
      settings: projectSettings.parse({ gate_window: 3, gate_gain: 0.1 }),
      trouble: null,
    });
  });

  it('that a newer version wrote holds by the keys that can be read, when nothing else is known', () => {
    const { settings, trouble } = readableSettings({ gate_gain: 0.1 }, newer, undefined);
    expect(settings).toEqual(projectSettings.parse({ gate_window: 7, gate_gain: 0.1 }));
    expect(trouble).toMatch(/gate_gain.*gate_of_tomorrow/);
  });

  it('that a newer version wrote changes nothing of what was known', () => {
    const before = projectSettings.parse({ gate_window: 4 });
    expect(readableSettings({}, newer, before).settings).toBe(before);
  });

  it.each([
    ['a list', [1, 2]],
    ['a text', 'x'],
    ['a map that is none', { thresholds: 'x', gate_overrides: null }],
  ])('that is %s leaves the base', (_, row) => {
    expect(readableSettings({ gate_window: 2 }, row, undefined).settings).toEqual(projectSettings.parse({ gate_window: 2 }));
  });
});
