import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { processSettings } from '#contracts';
import { startService } from '#service';
import { testDatabase, testNats, type TestDatabase, type TestNats } from '#testing';

let db: TestDatabase;
let nats: TestNats;
beforeAll(async () => {
  [db, nats] = [await testDatabase(), await testNats()];
});
afterAll(async () => {
  await nats.drop();
  await db.drop();
});

@Module({})
class Nothing {}

describe('a service that is told to stop', () => {
  it('says so to its module before it waits for anything, and its connections are there until its last hook', async () => {
    const order: string[] = [];
    const process = processSettings.parse({ nats_url: nats.url, database_url: db.url, log_level: 'silent' });
    const service = await startService(
      'scoring',
      ({ parts: { work } }, stopping) => {
        stopping.addEventListener('abort', () => order.push('stopping'));
        const onApplicationShutdown = async (): Promise<void> => {
          order.push(`hook ${JSON.stringify(await work.read('SELECT 1 AS one', []))}`);
        };
        return { module: Nothing, providers: [{ provide: 'probe', useValue: { onApplicationShutdown } }] };
      },
      { process, projects: {} },
    );
    expect(order).toEqual([]);
    const stopped = service.stop();
    expect(order).toEqual(['stopping']);
    await stopped;
    expect(order).toEqual(['stopping', 'hook [{"one":1}]']);
  });
});
