import { after, answerJson, modelServer, type ModelRequest } from '#testing';

/** What a judge needs: the name of the question, and an answer to it. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  task_and_outcome: { task: 'Find the order and say when it comes.', outcome: 'The order was found; it comes on Friday.' },
  task_completion: { reason: 'The order was found and the day was said.', verdict: 0.9 },
};

/** A model in a process of its own: every call is answered this many milliseconds after it came. `node model.js <ms>` */
const [, , delay = ''] = process.argv;
const server = await modelServer((request) => after(Number(delay), answerJson(ANSWERS[questionOf(request)])));

function questionOf({ body }: ModelRequest): string {
  return (body['response_format'] as { json_schema: { name: string } }).json_schema.name;
}

process.on('message', () => process.send?.({ requests: server.requests.length, mostAtOnce: server.mostAtOnce }));
// Whoever measures may be killed.
process.on('disconnect', () => process.exit());
process.send?.({ url: server.url });
