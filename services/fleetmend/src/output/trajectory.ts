import type { Notice, SessionTrajectory, TrajectoryTurn } from '#contracts';
import { table, when, type Column } from './table.js';

const DIGITS = 2;

/** One session for people: its turns with their scores, and its notices. */
export function trajectoryText(session: SessionTrajectory): string {
  const { turns, notices, standing, warnings } = session;
  const head = `${session.session_id}: ${standing.length === 0 ? 'nothing stands' : `stands: ${standing.join(', ')}`}`;
  const older = session.next_before === null ? '' : `\n(older turns: --before ${session.next_before})`;
  const said = warnings.map(({ code, message }) => `warning: ${code}: ${message}`);
  const parts = [
    head,
    ...said,
    table(turns, turnColumns) + older,
    notices.length === 0 ? 'no notices' : table(notices, noticeColumns),
  ];
  return parts.join('\n\n');
}

const turnColumns: readonly Column<TrajectoryTurn>[] = [
  { title: 'ordinal', of: ({ ordinal }) => ordinal, right: true },
  { title: 'turn', of: ({ turn_index: turn }) => turn, right: true },
  { title: 'accepted', of: ({ accepted_at: at }) => when(at) },
  { title: 'fired', of: ({ fired }) => fired.join(', ') },
  { title: 'scores', of: scoresText },
];

function scoresText({ scores, skipped, waiting }: TrajectoryTurn): string {
  if (skipped !== null) return `skipped: ${skipped}`;
  if (waiting) return 'waiting for traces';
  return scores.map(({ metric, value, status }) => `${metric} ${value === null ? status : value.toFixed(DIGITS)}`).join(', ');
}

export const noticeColumns: readonly Column<Notice>[] = [
  { title: 'notice', of: ({ id }) => id },
  { title: 'posted', of: ({ posted_at: at }) => when(at) },
  { title: 'severity', of: ({ severity }) => severity },
  { title: 'status', of: ({ status }) => status },
  { title: 'session', of: ({ session_id: id }) => id },
  { title: 'turn', of: ({ turn_index: turn }) => turn, right: true },
  { title: 'signatures', of: ({ signatures }) => signatures.join(', ') },
];
