export { testDatabase, type TestDatabase } from './database.js';
export { testNats, type TestNats } from './nats.js';
export { eventually } from './eventually.js';
export { cuttable, type Cuttable } from './cuttable.js';
