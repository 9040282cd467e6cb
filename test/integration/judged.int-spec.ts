import { afterEach, describe, expect, it } from '@jest/globals';
import type { ProjectSettingsPatch } from '#contracts';
import { answerJson, modelServer, type ModelServer, type Script } from '#testing';
import { JobDesk } from './job-desk.js';
import { Pipeline } from './pipeline.js';

let pipeline: Pipeline;
let models: ModelServer;
const desks: JobDesk[] = [];

const goodJudge: Script = ({ body }) =>
  answerJson(
    JSON.stringify(body).includes('outcome')
      ? { task: 'find the parcel', outcome: 'it was found', verdict: 0.8, reason: 'found' }
      : {},
  );

async function open(patch: ProjectSettingsPatch, script: Script = goodJudge): Promise<JobDesk> {
  pipeline = await Pipeline.open({ judge_model: 'gpt-4o-mini', tier1_metrics: ['task_completion'], ...patch });
  models = await modelServer(script);
  return desk();
}
async function desk(): Promise<JobDesk> {
  const one = await JobDesk.open(pipeline, { judge_base_url: models.url });
  desks.push(one);
  return one;
}
afterEach(async () => {
  for (const one of desks.splice(0)) await one.close();
  await pipeline.close();
  await models.close();
});
const turn = (turn_index: number, more: object = {}) => ({
  ...{ session_id: 's', turn_index, status: 'completed' },
  traces: [
    {
      trace_id: `t${turn_index}`,
      started_at: 1_790_000_000 + turn_index,
      input: 'where is my parcel',
      output: 'it is here',
      spans: [],
    },
  ],
  ...more,
});
const answers = () => pipeline.of('.trace.scored').map(({ payload }) => payload);

describe('a judged metric', () => {
  it('is answered when the judge has spoken, once, with what it cost', async () => {
    const worker = await open({});
    await pipeline.ended(turn(0));
    expect(answers()).toEqual([]);
    expect(await worker.all('judge')).toBe(1);
    expect(answers()).toMatchObject([
      { tier: 1, answer: 1, pending: false, scores: [{ status: 'scored', value: 0.8, source: 'judge' }] },
    ]);
  });
});
