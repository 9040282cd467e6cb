import { migrate } from '#persistence';

/** One process that brings the schema up to date and says what it did: `node migrate-once.js URL`. */
const [, , url = ''] = process.argv;
process.stdout.write(`${JSON.stringify(await migrate(url))}\n`);
