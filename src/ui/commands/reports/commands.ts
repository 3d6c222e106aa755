// Measure Scaling and Find Fastest Settings, loaded when one of them is first used (../../lazy.ts).
export { findBestSettings } from './findBestSettings.js';
export { measureScaling } from './measureScaling.js';
