// What is loaded when something of it is first needed, as a bundle of its own
// (scripts/build/build.mjs), so that activation stays short. Both bundles have their own copies of
// the core's classes. So code of the other bundle never tests an object of this one by `instanceof`.
// Every command is exported here (commands/register.ts), or by a file commands.ts of its folder.
import type * as Calls from './assist/toolCalls.js';
import type * as CheckpointCommands from './commands/checkpoints/commands.js';
import type * as ProfileCommands from './commands/profiles/commands.js';

export { Backend } from './backend.js';
export { addCluster } from './commands/addCluster/command.js';
export { checkProfile } from './commands/cluster/checkProfile.js';
export { closeTunnel } from './commands/cluster/closeTunnel.js';
export { connect } from './commands/cluster/connect.js';
export { copyNodeName } from './commands/cluster/copyNodeName.js';
export { copyToAll } from './commands/cluster/copyToAll.js';
export { copyToNode } from './commands/cluster/copyToNode.js';
export { disconnect } from './commands/cluster/disconnect.js';
export { fixCheck } from './commands/cluster/fixCheck.js';
export { nodeTerminal, openNodeTerminal } from './commands/cluster/openNodeTerminal.js';
export { openTunnel } from './commands/cluster/openTunnel.js';
export { runOnAll } from './commands/cluster/runOnAll.js';
export { copyText } from './commands/copyText.js';
export { exportRun } from './commands/export/command.js';
export { findBestSettings, measureScaling } from './commands/reports/reports.js';
export { attachRun } from './commands/runs/attachRun.js';
export { compareRuns } from './commands/runs/compareRuns.js';
export { copyRunFolder } from './commands/runs/copyRunFolder.js';
export { describeRun } from './commands/runs/describeRun.js';
export { deleteRun } from './commands/runs/deleteRun.js';
export { openDashboard } from './commands/runs/openDashboard.js';
export { openLogs } from './commands/runs/openLogs.js';
export { openTensorBoard } from './commands/runs/openTensorBoard.js';
export { openTensorBoardInBrowser } from './commands/runs/openTensorBoardInBrowser.js';
export { openTerminal } from './commands/runs/openTerminal.js';
export { resumeRun } from './commands/runs/resumeRun.js';
export { showBatchScript } from './commands/runs/showBatchScript.js';
export { revealRunFolder } from './commands/runs/revealRunFolder.js';
export { selectRun } from './commands/runs/selectRun.js';
export { stopRun } from './commands/runs/stopRun.js';
export { cloneRun } from './commands/start/cloneRun.js';
export { newRun, restoreForm } from './commands/start/newRun.js';
export { runAgain } from './commands/start/runAgain.js';
export { runDemo } from './commands/start/runDemo.js';
export { runOnCluster } from './commands/start/runOnCluster.js';
export { runTraining } from './commands/start/runTraining.js';
export { trainOnFolder } from './commands/start/trainOnFolder.js';
export { TaskTerminal } from './tasks/taskTerminal.js';

/** Commands that few sessions need are loaded when one of them is first used. */
export const loadCheckpointCommands = (): Promise<typeof CheckpointCommands> =>
  import('./commands/checkpoints/commands.js');
export const loadProfileCommands = (): Promise<typeof ProfileCommands> =>
  import('./commands/profiles/commands.js');

/** What a language model asks of a tool: loaded later still, since few sessions need it. */
export const loadToolCalls = (): Promise<typeof Calls> => import('./assist/toolCalls.js');
