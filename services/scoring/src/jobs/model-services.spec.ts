import { afterEach, describe, expect, it } from '@jest/globals';
import { processSettings } from '#contracts';
import { inMemoryCapabilities } from '#llm';
import { embeddings, hang, modelServer, type ModelServer, type Script } from '#testing';
import { ModelServices } from './model-services.js';

const made = (settings: object): ModelServices =>
  new ModelServices(processSettings.parse({ max_concurrent_evals: 1, ...settings }), inMemoryCapabilities());
let server: ModelServer | undefined;
const opened = async (script: Script): Promise<ModelServer> => (server = await modelServer(script));
afterEach(async () => {
  await server?.close();
});
const CHAT = { model: 'judge', messages: [{ role: 'user', content: 'Hello' }], maxOutputTokens: 10 } as const;

describe('the models of a scoring process', () => {
  it('embed while as many judges as may be are asked, though both have one address', async () => {
    const server = await opened(({ path }) => (path === '/embeddings' ? embeddings(['a']) : hang()));
    const models = made({ judge_base_url: server.url });
    const abort = new AbortController();
    const judged = models.judges.chat({ ...CHAT, signal: abort.signal }).catch((error: unknown) => error);
    const { vectors } = await models.embedder('vectors').embed(['a']);
    expect(vectors).toHaveLength(1);
    abort.abort();
    expect(await judged).toMatchObject({ kind: 'cancelled' });
  });

  it.each([
    ['of judges, where there is no address for embeddings', {}, { authorization: 'Bearer judges-key', 'x-of': 'judges' }],
    ['of its own, where there is one', { own: true }, { authorization: 'Bearer own-key', 'x-of': 'embeddings' }],
  ])('send an embedding the key and the headers %s', async (_, { own = false }: { own?: boolean }, expected) => {
    const server = await opened([embeddings(['a'])]);
    const ofJudges = { judge_base_url: server.url, judge_api_key: 'judges-key', judge_headers: { 'x-of': 'judges' } };
    const ofEmbeddings = { embedding_api_key: 'own-key', embedding_headers: { 'x-of': 'embeddings' } };
    const models = made({ ...ofJudges, ...ofEmbeddings, ...(own ? { embedding_base_url: server.url } : {}) });
    await models.embedder('vectors').embed(['a']);
    expect(server.requests[0]?.headers).toMatchObject(expected);
  });
});
