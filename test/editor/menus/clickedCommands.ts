// Commands that other tests than that of all commands give, by menus and questions: those of
// checkpoints, export, menus, ownProgram and editorReports.
import type { CommandId } from '../../../src/contributions.js';

export const clicked: readonly CommandId[] = [
  'trainyard.measureScaling',
  'trainyard.findBestSettings',
  'trainyard.openReport',
  'trainyard.copyText',
  'trainyard.downloadFiles',
  'trainyard.resumeElsewhere',
  'trainyard.runFromCheckpoint',
  'trainyard.evaluateCheckpoint',
  'trainyard.filterRuns',
  'trainyard.downloadCheckpoint',
  'trainyard.revealCheckpoint',
  'trainyard.clearRunFilter',
  'trainyard.deleteCheckpoint',
  'trainyard.predictPictures',
  'trainyard.copyToNode',
  'trainyard.trainOnFolder',
  'trainyard.exportRun',
  'trainyard.setPrice',
  'trainyard.runSweep',
  'trainyard.openWebPage',
  'trainyard.attachDebugger',
];
