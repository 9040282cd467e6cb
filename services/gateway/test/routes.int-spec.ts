import { expect, it } from '@jest/globals';
import { openApiDocument, openApiPath } from '../src/http/openapi.js';
import { routeTable } from '../src/http/routes.js';
import { openGateway } from './fixture.js';

it('every registered route is in the document, and every route of the document is registered', async () => {
  const fixture = await openGateway();
  try {
    const registered = fixture.gateway.routes
      .filter(({ method }) => method !== 'HEAD')
      .map(({ method, path }) => `${method} ${path}`);
    expect([...registered].sort()).toEqual(routeTable.map(({ method, path }) => `${method} ${path}`).sort());
    const documented = Object.entries(openApiDocument()['paths'] as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(routeTable.map((route) => `${route.method} ${openApiPath(route)}`).sort());
  } finally {
    await fixture.close();
  }
}, 60_000);
