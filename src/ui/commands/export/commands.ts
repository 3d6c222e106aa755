// Export Run, loaded when it is first used (../../lazy.ts).
export { exportRun } from './exportRun.js';
