// Who may import what (docs/architecture.md, "Layout"). test/architecture/imports.spec.ts runs these rules over the tree, and plants one
// leak per rule to see that it is caught.
const TEST_FILES = '(\\.(spec|int-spec|e2e-spec)\\.ts$|^test/|^services/[^/]+/test/|^libs/testing/|^libs/[^/]+/fixtures/)';

/** A package by name, wherever it is installed. */
const packages = (...names) => `(^|/)node_modules/(${names.join('|')})/`;

const NATS = packages('@nats-io/[^/]+', 'nats');
const DATABASE = packages('typeorm', 'pg');

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    rule(
      'contracts-only-zod',
      'What is said must be readable anywhere: libs/contracts imports zod and itself, nothing else.',
      { path: '^libs/contracts/', pathNot: TEST_FILES },
      { pathNot: ['^libs/contracts/', packages('zod')] },
    ),
    rule(
      'domain-imports-nothing',
      'What is decided depends on no technology: libs/domain imports itself, contracts, node:crypto and statistics primitives (and ajv, see below).',
      { path: '^libs/domain/', pathNot: TEST_FILES },
      { pathNot: ['^libs/domain/', '^libs/contracts/', '^(node:)?crypto$', packages('ajv', 'ajv-formats', 'simple-statistics')] },
    ),
    rule(
      'domain-contracts-as-types',
      'The domain uses the words of the contracts, not their code.',
      { path: '^libs/domain/', pathNot: TEST_FILES },
      { path: '^libs/contracts/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'ajv-in-checks',
      "Tools' schemas are validated in one place.",
      { path: '^(libs|services)/', pathNot: ['^libs/domain/src/checks/', TEST_FILES] },
      { path: packages('ajv', 'ajv-formats') },
    ),
    rule('libs-not-services', 'A library serves services and knows none.', { path: '^libs/' }, { path: '^services/' }),
    rule(
      'services-apart',
      'Services talk by events. Only the launcher, services/fleetmend, knows them all.',
      { path: '^services/([^/]+)/', pathNot: ['^services/fleetmend/', TEST_FILES] },
      { path: '^services/', pathNot: '^services/$1/' },
    ),
    rule(
      'nats-in-its-places',
      'The broker has folders of its own; everybody else speaks to the ports of libs/messaging.',
      {
        path: '^(libs|services)/',
        pathNot: [
          '^libs/messaging/src/jetstream/',
          '^libs/service/src/runtime\\.ts$',
          '^libs/(embedded|testing|checker|client)/',
          '^services/gateway/src/(jetstream|streams)/',
          '^services/scoring/src/nats/',
          '^services/validation/src/jetstream/',
          '^services/fleetmend/',
          TEST_FILES,
        ],
      },
      { path: NATS },
    ),
    rule(
      'nats-as-a-type-in-the-runtime',
      'The runtime hands the connection on; it does not use it.',
      { path: '^libs/service/' },
      { path: NATS, dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'database-in-its-places',
      'SQL has folders of its own: libs/persistence, and postgres/ in a service.',
      {
        path: '^(libs|services)/',
        pathNot: ['^libs/(persistence|embedded|testing|checker|service)/', '^services/[^/]+/src/postgres/', TEST_FILES],
      },
      { path: DATABASE },
    ),
    rule(
      'database-as-a-type-in-the-runtime',
      'The runtime hands the data source on; it does not use it.',
      { path: '^libs/service/' },
      { path: DATABASE, dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'openai-in-llm',
      'Models are spoken to in one place; everybody else asks libs/llm.',
      { path: '^(libs|services)/', pathNot: ['^libs/llm/', TEST_FILES] },
      { path: packages('openai') },
    ),
    rule(
      'local-model-in-embeddings',
      'The model that runs here is loaded in one place.',
      { path: '^(libs|services)/', pathNot: ['^libs/embeddings/', TEST_FILES] },
      { path: packages('@energetic-ai/[^/]+') },
    ),
    rule(
      'protobuf-in-its-places',
      'Protobuf is read in libs/otlp, and written where the gateway answers OTLP.',
      { path: '^(libs|services)/', pathNot: ['^libs/otlp/', '^services/gateway/src/otlp/', TEST_FILES] },
      { path: packages('protobufjs') },
    ),
    rule(
      'client-alone',
      'The client is a package of its own: it imports contracts as types, its transport, the one text that agents are given, and nothing else of ours.',
      { path: '^libs/client/', pathNot: TEST_FILES },
      {
        pathNot: ['^libs/client/', '^libs/contracts/', '^libs/domain/src/rules/preamble\\.ts$', NATS],
        dependencyTypesNot: ['core'],
      },
    ),
    rule(
      'handlers-without-drivers',
      'A handler loads, decides and saves through its stores.',
      { path: '^services/[^/]+/src/handlers/' },
      { path: [NATS, DATABASE, packages('fastify')] },
    ),
    rule(
      'http-in-the-gateway',
      'Only the gateway speaks HTTP.',
      { path: '^(libs|services)/', pathNot: ['^services/gateway/', TEST_FILES] },
      { path: packages('fastify', '@nestjs/platform-fastify') },
    ),
    rule(
      'no-test-code',
      'What is shipped imports neither tests nor libs/testing.',
      { path: '^(libs|services)/', pathNot: TEST_FILES },
      { path: ['\\.(spec|int-spec|e2e-spec)\\.ts$', '^libs/testing/', '^test/', packages('jest', '@jest/[^/]+', 'fast-check')] },
    ),
    rule('no-spec-imports', 'Nobody imports a test file, not even a test.', {}, { path: '\\.(spec|int-spec|e2e-spec)\\.ts$' }),
    rule('no-cycles', 'Two modules that need each other are one, or need a third.', {}, { circular: true }),
    rule('resolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    rule(
      'no-undeclared-packages',
      'What is imported is in package.json.',
      { path: '^(libs|services|test)/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    rule(
      'no-dev-packages',
      'What is shipped needs no development package.',
      { path: '^(libs|services)/', pathNot: TEST_FILES },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    preserveSymlinks: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      // `fleetmend-source`: the `#…` imports of package.json lead to the sources, not to dist.
      conditionNames: ['fleetmend-source', 'import', 'node', 'default', 'types'],
    },
  },
};
