const common = {
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': '@swc/jest' },
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['fleetmend-source', 'node', 'node-addons'] },
  modulePathIgnorePatterns: ['<rootDir>/dist'],
};
/** Real servers need more than jest's five seconds on a busy machine. */
const patient = { setupFilesAfterEnv: ['<rootDir>/test/support/timeout.ts'] };

/** The tier is in the file name: .spec.ts needs nothing, .int-spec.ts real servers, .e2e-spec.ts the whole loop as processes. */
export default {
  projects: [
    { ...common, displayName: 'unit', testMatch: ['<rootDir>/{libs,services}/**/*.spec.ts'] },
    { ...common, displayName: 'architecture', testMatch: ['<rootDir>/test/architecture/*.spec.ts'] },
    { ...common, ...patient, displayName: 'integration', testMatch: ['<rootDir>/{libs,services,test}/**/*.int-spec.ts'] },
    { ...common, ...patient, displayName: 'e2e', testMatch: ['<rootDir>/test/**/*.e2e-spec.ts'] },
  ],
};
