// What is loaded when something of it is first needed, as a bundle of its own
// (scripts/build/build.mjs): activation stays short. Classes of the core are there twice then, so
// what is in the other bundle never asks `instanceof` of what comes from here.
export { Backend } from './backend.js';
export * as cluster from './commands/cluster.js';
export * as logs from './commands/logs.js';
export * as profiles from './commands/profiles.js';
export * as runs from './commands/runs.js';
export * as starting from './commands/runTraining.js';
