import { describe, expect, it } from '@jest/globals';
import type { SessionTrajectory, TrajectoryTurn } from '#contracts';
import { trajectoryText } from './trajectory.js';

const AT = Date.parse('2026-11-30T12:00:00Z') * 1000;
const turn: TrajectoryTurn = {
  ...{ turn_index: AT, ordinal: 3, accepted_at: AT, agent_version: null, model: null, partial: false, waiting: false },
  ...{ skipped: null, revision: 1, fired: [], standing: [], scores: [] },
};
const session: SessionTrajectory = {
  ...{ session_id: 's', agent: null, first_at: AT, last_turn_index: AT, last_accepted_at: AT, alerting: false, standing: [] },
  ...{ turns: [turn, { ...turn, turn_index: AT + 5, ordinal: 4 }], next_before: null, series: [], notices: [], warnings: [] },
};

describe('a trajectory for people', () => {
  it('counts turns, whose indices may be times', () => {
    const lines = trajectoryText(session).split('\n');
    expect(lines[2]).toMatch(/^ordinal +turn +accepted/);
    expect(lines.slice(3, 5).map((line) => line.trim().split(/ +/).slice(0, 2))).toEqual([
      ['3', String(AT)],
      ['4', String(AT + 5)],
    ]);
    expect(lines.join('\n')).not.toContain('warning');
  });

  it('says what is odd about the session', () => {
    const warned = { ...session, warnings: [{ code: 'mixed_turns' as const, message: 'Both ways.' }] };
    expect(trajectoryText(warned)).toContain('\nwarning: mixed_turns: Both ways.\n');
  });
});
