// The commands that start a run, loaded when one of them is first used (../../lazy.ts).
export { cloneRun } from './cloneRun.js';
export { newRun, restoreForm } from './newRun.js';
export { runAgain } from './runAgain.js';
export { runDemo } from './runDemo.js';
export { runOnCluster } from './runOnCluster.js';
export { runTraining } from './runTraining.js';
export { trainOnFolder } from './trainOnFolder.js';
