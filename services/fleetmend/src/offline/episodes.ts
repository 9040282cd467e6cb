import { nextEpisodes, type EpisodesLine } from '#domain/episodes';
import { fieldsOf, isFields, listOf, numberOf, objectOf, textOf, type Fields } from './shapes.js';

const EXAMPLE =
  '{"notices": [{"id": "n-1", "session_id": "a", "turn_index": 1, "signatures": ["stall:coherence"], "flagged_traces": [], "recommended_scope": null}]}';

/** `{notices, sessions?}` -> `{episodes}` per session: the next one that would form. */
export function answerEpisodesLine(line: unknown): { episodes: object } {
  const fields = fieldsOf(line, EXAMPLE);
  return nextEpisodes({ notices: listOf(fields, 'notices', noticeOf), sessions: sessionsOf(fields) });
}

/** A golden line can be piped in as it is: the keys of its answer name the sessions that have no notice. */
function sessionsOf(fields: Fields): string[] {
  if (fields.sessions !== undefined) return listOf(fields, 'sessions', textOf);
  return isFields(fields.episodes) ? Object.keys(fields.episodes) : [];
}

function noticeOf(value: unknown, path: string): EpisodesLine['notices'][number] {
  const notice = objectOf(value, path);
  const { recommended_scope: scope = null } = notice;
  return {
    id: textOf(notice.id, `${path}.id`),
    session_id: textOf(notice.session_id, `${path}.session_id`),
    turn_index: numberOf(notice.turn_index, `${path}.turn_index`),
    signatures: listOf(notice, 'signatures', textOf),
    flagged_traces: listOf(notice, 'flagged_traces', textOf),
    recommended_scope: scope === null ? null : textOf(scope, `${path}.recommended_scope`),
  };
}
