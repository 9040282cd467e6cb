import { createHash } from 'node:crypto';

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** The uuid that names a session everywhere: the first 16 bytes of SHA-256 over `project|session`. */
export function sessionKey(project: string, session: string): string {
  const hex = sha256(`${project}|${session}`).toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 base32 without padding. */
function base32(bytes: Uint8Array): string {
  let bits = 0;
  let held = 0;
  let out = '';
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += BASE32[(held >> bits) & 31] ?? '';
    }
    held &= (1 << bits) - 1;
  }
  return out;
}

const PLAIN_TOKEN = /^[A-Za-z0-9_-]{1,64}$/;

/** A session id as one token of a subject: itself when it fits, else `~` and 26 characters of base32 SHA-256. */
export function sessionToken(session: string): string {
  return PLAIN_TOKEN.test(session) ? session : `~${base32(sha256(session)).slice(0, 26)}`;
}

/** The id of an event or journal entry, derived from what caused it, so that the same cause always gives the same id. */
export function derivedId(type: string, ...key: readonly (string | number)[]): string {
  return sha256([type, ...key].join('|')).toString('base64url', 0, 18);
}

/** `e-` and 12 hex digits of SHA-256 over the sorted notice ids joined by `|`. */
export function episodeId(noticeIds: readonly string[]): string {
  return `e-${sha256([...noticeIds].sort().join('|')).toString('hex', 0, 6)}`;
}

/** `i-` and 12 hex digits: an incident is named after the episode that opened it. */
export function incidentId(openedBy: string): string {
  return `i-${sha256(openedBy).toString('hex', 0, 6)}`;
}

/**
 * A sortable notice id: 12 hex digits of milliseconds, then `random` (16 hex digits).
 * Made once, in the transaction that posts the notice; what makes a notice unique is (session, turn, signatures).
 */
export function noticeId(atMs: number, random: string): string {
  return `n-${Math.trunc(atMs).toString(16).padStart(12, '0')}-${random}`;
}

/** A short content hash, hex; equal content gives equal text. */
export function contentHash(text: string): string {
  return sha256(text).toString('hex', 0, 16);
}

const REPLAY_PREFIX = 'fm-replay-';

/** The session under which a replay runs: agents are given it, and cannot take it by themselves. */
export function replaySession(replayId: string): string {
  return REPLAY_PREFIX + replayId;
}

/** The replay that a session is; null for every other session. */
export function replayOfSession(session: string): string | null {
  return session.startsWith(REPLAY_PREFIX) ? session.slice(REPLAY_PREFIX.length) : null;
}

/** A rule that a repair writes is named after its episode, which has one at most. */
export function ruleIdOf(episode: string): string {
  return `r-${episode.replace(/^e-/, '')}`;
}
