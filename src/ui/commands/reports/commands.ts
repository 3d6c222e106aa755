// Measure Scaling, Find Fastest Settings, Run Sweep and Open Report. They are loaded when one of
// them is first used (../../lazy.ts).
export { findBestSettings } from './findBestSettings.js';
export { measureScaling } from './measureScaling.js';
export { openReport } from './openReport.js';
export { offerSweeps, runSweep } from './runSweep.js';
