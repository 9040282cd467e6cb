import { createHash } from 'node:crypto';
import { after, answerJson, type ModelRequest, type Reply, type Script } from '#testing';

interface Question {
  /** The question's name: that of a prompt in libs/judges. */
  readonly name: string;
  /** Fenced material from outside. */
  readonly material: string;
}

/** What a judge was asked, as a scripted model gets it. */
export function questionOf({ body }: ModelRequest): Question {
  const format = body['response_format'] as { json_schema: { name: string } };
  const messages = body['messages'] as { role: string; content: string }[];
  return { name: format.json_schema.name, material: messages.find(({ role }) => role === 'user')?.content ?? '' };
}

/** The ids of the calls that a question about arguments lists. */
export function callsIn(material: string): string[] {
  const [, calls = ''] = /name="calls">([\s\S]*?)<\/data/.exec(material) ?? [];
  return [...calls.matchAll(/^(c\d+)\. /gm)].map(([, id = '']) => id);
}

const LATENCY_MS = 40;

/**
 * A model whose every answer follows from what it is shown, so that whoever asks again hears the same: verdicts all over
 * [0, 1], after up to 40 ms.
 */
export const hashedJudge: Script = (request) => {
  const { name, material } = questionOf(request);
  const hash = createHash('sha256').update(`${name}|${material}`).digest();
  return after(((hash[1] ?? 0) / 255) * LATENCY_MS, answerTo(name, material, hash));
};

function answerTo(name: string, material: string, hash: Buffer): Reply {
  const mark = hash.toString('hex').slice(0, 12);
  switch (name) {
    case 'task_and_outcome':
      return answerJson({ task: `the task ${mark}`, outcome: `the outcome ${mark}` });
    case 'tools':
      return answerJson({ asked: `what ${mark} asks`, called: [], available: [] });
    case 'argument_correctness':
      return answerJson({ verdicts: callsIn(material).map((id, at) => verdictOn(id, hash[at % hash.length] ?? 0)) });
    default:
      return answerJson({ reason: `as ${mark} shows`, verdict: Math.round(((hash[0] ?? 0) / 255) * 100) / 100 });
  }
}

function verdictOn(id: string, byte: number): object {
  return { id, reason: `byte ${byte}`, correct: byte < 200 ? 'yes' : 'no' };
}
