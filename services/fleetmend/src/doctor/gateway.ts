import type { Readiness } from '#contracts';
import { Gateway, type GatewayAddress } from '../http/gateway.js';
import { fail, ok, warn, type Finding } from './finding.js';

/** What the gateway says of itself and of the other services. */
export async function lookAtGateway(address: GatewayAddress): Promise<Finding> {
  try {
    const { status, body } = await new Gateway(address).raw('GET', '/readyz');
    const { missing = {}, degraded = {} } = (body ?? {}) as Partial<Readiness>;
    const told = [...Object.entries(missing), ...Object.entries(degraded)].map(([name, detail]) => `${name}: ${detail}`);
    if (status === 200 && told.length === 0) return ok('gateway', `ready at ${address.url}`);
    const detail = `${address.url} answers ${status}: ${told.join('; ')}`;
    return status === 200 ? warn('gateway', detail, 'see the lines above') : fail('gateway', detail, 'see the lines above');
  } catch (error) {
    return warn('gateway', error instanceof Error ? error.message : String(error), 'start it with `fleetmend up`');
  }
}
