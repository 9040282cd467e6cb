import { endQuietlyWhenNobodyReads } from './output/write.js';
import { run } from './run.js';

endQuietlyWhenNobodyReads();
// Connections of a finished command (HTTP keep-alive) would hold the process for seconds; what was written is handed over.
process.exit(await run(process.argv.slice(2)));
