export { tauBench, type TauBenchOptions, type TauBenchRecording } from './tau-bench.js';
export { sweAgent } from './swe-agent.js';
export { recognise, type RecordingKind } from './recognise.js';
export { RecordingError, type TurnInput } from './shapes.js';
export { sampleTurns } from './sample.js';
