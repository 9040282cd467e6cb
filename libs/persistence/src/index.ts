export { createDataSource, migrations, type DatabaseSettings } from './data-source.js';
export { migrate, pendingMigrations } from './migrate.js';
export { classifyDatabaseError, isWorthRerunning } from './errors.js';
export type { Emission } from './outbox-row.js';
export { UnitOfWork, type JournalEntry, type Transaction } from './unit-of-work.js';
export { PostgresAttempts } from './attempts.js';
export { SettingsDirectory } from './settings-directory.js';
export { mergeSettings } from './merge-settings.js';
export { grants } from './grants.js';
