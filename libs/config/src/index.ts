export { explain, loadSettings, SettingsError, type LoadedSettings } from './load.js';
export { commandLineEnvironment, type CommandLineEnvironment } from './command-line.js';
