import { Controller, Inject, Module, type DynamicModule } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumers, type ConsumerContract } from '#contracts';
import { TerminalError, type Delivery } from '#messaging';
import { OnBatch } from '#messaging/jetstream';
import { UnitOfWork } from '#persistence';
import { runService, startService, type ServiceRuntime } from '#service';

/**
 * A service that does with a message what its session's name says: `kill-…` ends the process, `throw-…` fails, `terminal-…`
 * can never succeed, `slow-…` takes seven seconds. Everything else is written down, in a table that the test has made.
 * `node fake-service.js <consumer>`
 */
const SLOW_MS = 7_000;
const [, , which = ''] = process.argv;
const contract: ConsumerContract | undefined = Object.values(consumers).find(({ durable }) => durable === which);
if (contract === undefined) throw new Error(`there is no consumer "${which}"`);
const { durable, service } = contract;

@Controller()
class FakeHandler {
  constructor(@Inject(UnitOfWork) private readonly work: UnitOfWork) {}

  @OnBatch(contract as ConsumerContract)
  async handle(@Payload() batch: readonly Delivery<{ session_id: string }>[]): Promise<void> {
    const names = batch.map(({ payload }) => payload.session_id);
    await this.note('begun', names);
    for (const name of names) await obey(name);
    await this.note('handled', names);
  }

  /** Outside and after the work, so that a test sees how often it was really done. */
  private async note(what: string, names: readonly string[]): Promise<void> {
    await this.work.run((tx) =>
      tx.query('INSERT INTO public.fake_notes (consumer, what, name, pid) SELECT $1, $2, n, $4 FROM unnest($3::text[]) AS n', [
        durable,
        what,
        names,
        process.pid,
      ]),
    );
  }
}

async function obey(name: string): Promise<void> {
  if (name.startsWith('kill-')) process.exit(1);
  if (name.startsWith('throw-')) throw new Error(`cannot do ${name}`);
  if (name.startsWith('terminal-')) throw new TerminalError(`will never do ${name}`);
  if (name.startsWith('slow-')) await sleep(SLOW_MS);
}

@Module({})
class FakeModule {}

function fakeModule({ parts }: ServiceRuntime): DynamicModule {
  return { module: FakeModule, controllers: [FakeHandler], providers: [{ provide: UnitOfWork, useValue: parts.work }] };
}

await runService((loaded) => startService(service, fakeModule, loaded));
