import type { RouteContract } from './route.js';
import { ProblemError, problemOf } from './problem.js';
import { routeTable } from './routes.js';

const compiled = routeTable.map((route) => ({ route, pattern: new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`) }));
const byPlace = new Map(routeTable.map((route) => [`${route.method} ${route.path}`, route]));

/**
 * The contract of a request. `registered` is the router's own pattern for it, undefined when it found none.
 * @throws ProblemError 404, or 405 with `Allow` when only the method is wrong
 */
export function routeOf(method: string, registered: string | undefined, url: string): RouteContract {
  const asked = method === 'HEAD' ? 'GET' : method;
  const route = registered === undefined ? undefined : byPlace.get(`${asked} ${registered}`);
  if (route !== undefined) return route;
  const path = url.split('?', 1)[0] ?? '';
  const allowed = compiled.filter(({ pattern }) => pattern.test(path)).map(({ route: one }) => one.method);
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  if (allowed.length === 0)
    throw new ProblemError(problemOf('not-found', 404, `There is nothing at ${shown}; /openapi.json lists what there is.`));
  const allow = allowed.join(', ');
  throw new ProblemError(problemOf('method-not-allowed', 405, `${shown} takes ${allow}, not ${method}.`), { allow });
}
