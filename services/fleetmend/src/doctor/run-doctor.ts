import { loadSettings, type LoadedSettings } from '#config';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { explainError } from '../explain-error.js';
import { findGateway, type GatewayOptions } from '../http/gateway.js';
import { answer, type FormatOption } from '../output/answer.js';
import { findServers, type Servers } from '../servers.js';
import { lookAtBroker, type Expected } from './broker.js';
import { lookAtDatabase } from './database.js';
import { fail, ok, warn, type Finding } from './finding.js';
import { lookAtGateway } from './gateway.js';

import { diskRoom, nodeVersion } from './machine.js';

export interface DoctorOptions extends FormatOption, GatewayOptions {
  readonly check?: boolean;
}

/** Gives exit code 1 when a check fails, or with `--check` when an invariant is violated. */
export async function runDoctor(options: DoctorOptions): Promise<ExitCode> {
  if (options.check === true) return (await import('./invariants.js')).checkStored(options);
  const findings = [nodeVersion(), ...(await lookAtAll(options))];
  await answer({ findings }, options, () => findings.map(lineOf).join('\n'));
  return findings.some(({ status }) => status === 'fail') ? exitCodes.finding : exitCodes.ok;
}

async function lookAtAll(options: DoctorOptions): Promise<Finding[]> {
  try {
    loadSettings();
  } catch (error) {
    return [fail('settings', explainError(error).message ?? '', 'correct fleetmend.json or the FLEETMEND_* variable')];
  }
  const servers = await findServers();
  const { process: own } = servers.settings;
  return [
    ok('settings', `valid; data folder ${own.data_dir}`),
    await diskRoom(own.data_dir),
    ...(await lookAtServers(servers)),
    await lookAtGateway(await findGateway(options)),
  ];
}

async function lookAtServers({ natsUrl, databaseUrl, settings }: Servers): Promise<Finding[]> {
  const unknown = (check: string, variable: string): Finding =>
    fail(check, 'none is known', `start \`fleetmend up\` with this data folder, or set ${variable}`);
  const [broker, database] = await Promise.all([
    natsUrl === undefined ? undefined : lookAtBroker(natsUrl, expectedOf(settings)),
    databaseUrl === undefined ? undefined : lookAtDatabase(databaseUrl),
  ]);
  return [
    ...(broker?.findings ?? [unknown('broker', 'NATS_URL')]),
    ...(database?.findings ?? [unknown('database', 'DATABASE_URL')]),
    ...deadLetters(broker?.dead ?? null, database?.redriven ?? null),
  ];
}

function expectedOf({ process, projects }: LoadedSettings): Expected {
  return { ackWaitMs: process.ack_wait_ms, repairs: (projects.repair_model ?? null) !== null };
}

function deadLetters(dead: number | null, redriven: number | null): Finding[] {
  if (dead === null) return [];
  const left = Math.max(0, dead - (redriven ?? 0));
  if (left === 0) return [ok('dead letters', dead === 0 ? 'none' : `${dead}, all redriven`)];
  return [warn('dead letters', `${left}`, 'see `fleetmend dead list`; when the reason is gone, `fleetmend dead redrive`')];
}

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;
const CHECK_WIDTH = 28;

function lineOf({ check, status, detail, advice }: Finding): string {
  return `${MARKS[status]}  ${check.padEnd(CHECK_WIDTH)}  ${detail}${advice === undefined ? '' : `\n      → ${advice}`}`;
}
