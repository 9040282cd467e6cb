export { type ModelRequest, modelServer, type ModelServer, type Script } from './server.js';
export {
  after,
  answer,
  type AnswerFields,
  answerJson,
  embeddings,
  hang,
  json,
  type Reply,
  reset,
  type ScriptedCall,
  status,
  stream,
  truncated,
  vectorOf,
} from './replies.js';
