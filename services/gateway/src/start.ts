import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LoadedSettings } from '#config';
import { PinoLogger } from '#observability';
import { openRuntime, type RunningService, type ServiceRuntime } from '#service';
import { Access } from './access/access.js';
import { isLoopbackHost } from './access/loopback.js';
import { gatewayModule } from './gateway.module.js';
import { readBodies } from './http/body.js';
import { routeOf } from './http/find-route.js';
import { answerBadHttp, ProblemFilter, sendProblem } from './http/problem-filter.js';
import { ProblemError, problemOf } from './http/problem.js';
import { listen } from './listen.js';
import { GatewayMetrics } from './operations/gateway-metrics.js';
import { isOtlp } from './otlp/encoding.js';
import { Database } from './postgres/database.js';
import { KeyDirectory } from './postgres/key-directory.js';

export interface RunningGateway extends RunningService {
  /** Where it answers, for example `http://127.0.0.1:4320`. */
  readonly url: string;
  /** What the router knows, HEAD included. */
  readonly routes: readonly RegisteredRoute[];
}

export interface RegisteredRoute {
  readonly method: string;
  readonly path: string;
}

/** An id of 255 characters, each percent-encoded as four bytes; longer ones are told that they are too long. */
const MAX_PARAM_LENGTH = 8_192;
/** 64 MiB over a slow line take a while; a request that is not there after this will not come. */
const REQUEST_TIMEOUT_MS = 300_000;
const IDLE_LOOK_MS = 50;

/**
 * Starts the gateway in this process.
 * @throws Error with what to do: no key while http_host is open to others, port taken
 */
export async function startGateway(loaded: LoadedSettings): Promise<RunningGateway> {
  const runtime = await openRuntime('gateway', loaded);
  try {
    return await serve(runtime);
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

async function serve(runtime: ServiceRuntime): Promise<RunningGateway> {
  const { logger, metrics, db } = runtime.parts;
  const { http_host: host, shutdown_grace_s: graceS } = runtime.loaded.process;
  metrics.withProcess();
  const directory = new KeyDirectory(new Database(db));
  const access = new Access(directory, isLoopbackHost(host));
  await sayWhoMayCome(directory, runtime);

  const adapter = newAdapter();
  const server: FastifyInstance = adapter.getInstance();
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares a class and means any such object
  const app = await NestFactory.create<NestFastifyApplication>(gatewayModule(runtime, access, directory), adapter, {
    logger: new PinoLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter());
  readBodies(server, isOtlp);
  hook(server, access, app.get(GatewayMetrics));
  const routes = registeredRoutes(server);
  await app.init();
  runtime.parts.work.start();
  const url = await listen(server, runtime.loaded.process, (text) => {
    logger.warn(text);
  }).catch(async (error: unknown) => {
    await app.close();
    throw error;
  });
  logger.info(`listening on ${url}`);
  return { name: 'gateway', url, routes, stop: () => stop(app, runtime, graceS * 1_000) };
}

/** Fills as routes are registered. */
function registeredRoutes(server: FastifyInstance): RegisteredRoute[] {
  const routes: RegisteredRoute[] = [];
  server.addHook('onRoute', ({ method, url: path }) => {
    for (const one of [method].flat()) routes.push({ method: one, path });
  });
  return routes;
}

function newAdapter(): FastifyAdapter {
  return new FastifyAdapter({
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    requestTimeout: REQUEST_TIMEOUT_MS,
    clientErrorHandler: answerBadHttp,
    // A URL that cannot even be decoded, or is too long, reaches no route.
    frameworkErrors: (error: Error & { statusCode?: number }, _request: unknown, reply: unknown) => {
      sendProblem(reply as FastifyReply, new ProblemError(problemOf('bad-http', error.statusCode ?? 400, error.message)));
    },
  });
}

/** Who asks is known before the body is read: a stranger cannot make the gateway hold 64 MiB. */
function hook(server: FastifyInstance, access: Access, gatewayMetrics: GatewayMetrics): void {
  server.addHook('onRequest', async (request: FastifyRequest) => {
    const route = routeOf(request.method, request.is404 ? undefined : request.routeOptions.url, request.url);
    const caller = await access.callerOf(request, route);
    if (caller !== undefined) request.caller = caller;
  });
  server.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const route = `${request.method} ${request.is404 ? '(none)' : (request.routeOptions.url ?? '(none)')}`;
    gatewayMetrics.request(route, reply.statusCode, reply.elapsedTime / 1_000);
  });
}

/** Without keys only this machine may come; said once, with what to do about it. */
async function sayWhoMayCome(directory: KeyDirectory, { loaded, parts: { logger } }: ServiceRuntime): Promise<void> {
  const { http_host: host } = loaded.process;
  const local = isLoopbackHost(host);
  const required = await directory.required().catch((error: unknown) => {
    // An unmigrated database is told by /readyz; on loopback that is no reason not to start.
    if (local) return true;
    throw error;
  });
  if (required) return;
  if (!local) throw new Error(WITHOUT_KEYS(host));
  logger.warn(
    'no API key exists: the gateway listens on loopback only and uses the project "default" without a key; make one with `fleetmend keys create --scopes operate`',
  );
}

const WITHOUT_KEYS = (host: string): string =>
  `http_host is ${host}, which others can reach, and no API key exists. Make one first: \`fleetmend keys create --scopes operate\` ` +
  '(it needs DATABASE_URL only), or start once with http_host 127.0.0.1 and POST /v1/keys.';

/** Streams end first, requests in hand are finished, at most for the grace; then the connections close. */
async function stop(app: NestFastifyApplication, runtime: ServiceRuntime, graceMs: number): Promise<void> {
  const server = app.getHttpServer();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  // A connection whose last request has just been answered would be kept for the client's next one.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
    clearInterval(idle);
    await runtime.close();
  }
}
