// The commands of a checkpoint, loaded when one of them is first used (../../lazy.ts).
export { copyCheckpointPath } from './copyCheckpointPath.js';
export { deleteCheckpoint } from './deleteCheckpoint.js';
export { downloadCheckpoint } from './downloadCheckpoint.js';
export { evaluateCheckpoint } from './evaluateCheckpoint.js';
export { predictPictures } from './predictPictures.js';
export { revealCheckpoint } from './revealCheckpoint.js';
export { runFromCheckpoint } from './runFromCheckpoint.js';
export { verifyCheckpoints } from './verifyCheckpoints.js';
