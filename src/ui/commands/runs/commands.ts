// The commands of a run, loaded when one of them is first used (../../lazy.ts).
export { attachRun } from './attachRun.js';
export { compareRuns } from './compareRuns.js';
export { copyRunFolder } from './copyRunFolder.js';
export { deleteRun } from './deleteRun.js';
export { describeRun } from './describeRun.js';
export { downloadFiles } from './downloadFiles.js';
export { openDashboard } from './openDashboard.js';
export { openLogs } from './openLogs.js';
export { openTensorBoard } from './openTensorBoard.js';
export { openTensorBoardInBrowser } from './openTensorBoardInBrowser.js';
export { openTerminal } from './openTerminal.js';
export { resumeElsewhere } from './resumeElsewhere.js';
export { resumeRun } from './resumeRun.js';
export { revealRunFolder } from './revealRunFolder.js';
export { selectRun } from './selectRun.js';
export { showBatchScript } from './showBatchScript.js';
export { stopRun } from './stopRun.js';
