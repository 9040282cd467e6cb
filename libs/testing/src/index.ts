export { testDatabase, type TestDatabase } from './database.js';
export { testNats, type TestNats } from './nats.js';
export { eventually } from './eventually.js';
export { cuttable, type Cuttable } from './cuttable.js';
export {
  after,
  answer,
  type AnswerFields,
  answerJson,
  embeddings,
  hang,
  json,
  type ModelRequest,
  modelServer,
  type ModelServer,
  type Reply,
  reset,
  type ScriptedCall,
  type Script,
  status,
  stream,
  truncated,
  vectorOf,
} from './model-server/index.js';
