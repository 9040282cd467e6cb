import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, SettingsError } from './load.js';

const withFile = (content: string, use: (path: string) => void): void => {
  const dir = mkdtempSync(join(tmpdir(), 'fm-settings-'));
  try {
    const path = join(dir, 'settings.json');
    writeFileSync(path, content);
    use(path);
  } finally {
    rmSync(dir, { recursive: true });
  }
};

describe('settings', () => {
  it('come from the defaults, then the file, then the environment', () => {
    withFile('{"gate_window": 7, "gate_target": 0.6, "http_port": 5000}', (path) => {
      const { process: own, projects } = loadSettings({ FLEETMEND_SETTINGS: path, FLEETMEND_GATE_WINDOW: '9' });
      expect(own).toMatchObject({ http_port: 5000, max_attempts: 5 });
      expect(projects).toEqual({ gate_window: 9, gate_target: 0.6 });
    });
  });
  it('hold only what was given, so that a project keeps its own', () => {
    expect(loadSettings({}).projects).toEqual({});
  });
  it('read NATS_URL and DATABASE_URL; their FLEETMEND_ form wins', () => {
    const { process: own } = loadSettings({ NATS_URL: 'nats://a', DATABASE_URL: 'postgres://a', FLEETMEND_NATS_URL: 'nats://b' });
    expect(own).toMatchObject({ nats_url: 'nats://b', database_url: 'postgres://a' });
  });
  it.each([
    ['true', true],
    ['yes', true],
    ['OFF', false],
  ])('read a switch written %s', (text, value) => {
    expect(loadSettings({ FLEETMEND_OBSERVE_ONLY: text }).projects).toEqual({ observe_only: value });
  });
  it('read lists as names with commas or as JSON, and maps as JSON', () => {
    const env = {
      FLEETMEND_TIER1_METRICS: 'task_completion, loop_detection',
      FLEETMEND_TIER2_METRICS: '["tool_correctness"]',
      FLEETMEND_THRESHOLDS: '{"coherence":0.4}',
    };
    expect(loadSettings(env).projects).toEqual({
      tier1_metrics: ['task_completion', 'loop_detection'],
      tier2_metrics: ['tool_correctness'],
      thresholds: { coherence: 0.4 },
    });
  });
  it.each([
    [{ FLEETMEND_TIER1_METRICS: 'task_completion,taks' }, /unknown metric "taks"; known metrics: .*task_completion/],
    [{ FLEETMEND_GATE_WINDOWS: '3' }, /FLEETMEND_GATE_WINDOWS is not a setting/],
    [{ FLEETMEND_GATE_WINDOW: 'many' }, /gate_window/],
    [{ FLEETMEND_THRESHOLDS: '{"coherence":1.5}' }, /thresholds\.coherence/],
    [{ FLEETMEND_SETTINGS: '/nowhere/at/all.json' }, /settings file .* cannot be read/],
  ])('refuse %j and say why', (env, message) => {
    expect(() => loadSettings(env)).toThrow(SettingsError);
    expect(() => loadSettings(env)).toThrow(message);
  });
});
