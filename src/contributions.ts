// Every command, view, panel and setting with its types. A test holds package.json against this.

import type { NodePath } from './core/base/nodePath.js';
import type { RunReport } from './core/model/measured.js';

/** A run as commands get it from the tree; from the palette they get nothing and ask. */
export interface RunArgument {
  profile: string;
  id: string;
  dir: NodePath;
}

/** A run to go on with. */
export interface ResumeArgument extends RunArgument {
  /** On every slot of these, in place of the hosts that it had. */
  hosts?: readonly string[];
}

/** The runs of a report as commands get them from the tree. */
export interface RunsArgument extends ProfileArgument {
  runs: readonly RunArgument[];
}

/** A report as commands get it from the tree. */
export interface ReportArgument extends ProfileArgument {
  report: RunReport;
}

/** A profile as commands get it from the tree. */
export interface ProfileArgument {
  profile: string;
}

/** What is checked, and whether links, CPUs and free GPUs are measured too. */
export interface CheckArgument extends ProfileArgument {
  deep?: boolean;
}

/** What of a profile is to be edited. */
export interface FieldArgument extends ProfileArgument {
  /** Of the profile, or of this host of it. */
  field?: string;
  host?: string;
}

/** A line of the profile file, from 1. */
export interface LineArgument {
  line: number;
}

/** A node of a cluster as commands get it from the tree. */
export interface HostArgument extends ProfileArgument {
  host: string;
}

/** A tunnel, by its place in the profile's list. */
export interface TunnelArgument extends ProfileArgument {
  tunnel: string;
}

/** One of the runs that are under way, to be chosen. */
export interface UnderWay {
  underWay: true;
}

/** A checkpoint as commands get it from the tree. */
export interface CheckpointArgument extends RunArgument {
  step: number;
  /** Relative to the run folder. */
  path: string;
}

/** What a caller (another extension, a keybinding, a test) may give in place of the questions. */
export interface RunWords {
  profile?: string;
  /** A verb of the trainer with its flags, or any command. */
  words: readonly string[];
  ranks?: number;
}

/** What a report measures. Where the words are given, nothing is asked. */
export interface MeasureArgument extends ProfileArgument {
  /** `train` with its flags. */
  words?: readonly string[];
  /** `1,2,4`. */
  replicas?: string;
  /** How long it may take, where it takes as long as it may. */
  minutes?: number;
}

/** A file as the explorer's and the editor's menus give it: a `vscode.Uri`. */
export interface FileArgument {
  scheme: string;
  fsPath: string;
}

/** What is copied, and where to. Without a host, files go to all nodes of the profile. */
export interface CopyArgument extends Partial<HostArgument> {
  files?: readonly FileArgument[];
}

/** Whether to ask before something starts, as a keybinding says it. */
export interface AskArgument {
  ask: boolean;
}

/** Command ids with their arguments. */
export interface CommandArguments {
  /** `form`: goes on in the form of a new run. */
  'trainyard.addCluster': [then?: 'form'];
  'trainyard.addProfile': [];
  'trainyard.editProfile': [place?: FieldArgument];
  'trainyard.chooseKey': [host?: Partial<HostArgument>];
  'trainyard.setPrice': [profile?: ProfileArgument];
  'trainyard.duplicateProfile': [profile?: ProfileArgument];
  'trainyard.removeProfile': [profile?: ProfileArgument];
  'trainyard.importProfile': [];
  'trainyard.exportProfile': [profile?: ProfileArgument];
  'trainyard.openProfiles': [place?: LineArgument];
  'trainyard.connect': [profile?: ProfileArgument];
  'trainyard.disconnect': [profile?: ProfileArgument];
  'trainyard.checkProfile': [profile?: CheckArgument];
  'trainyard.openNodeTerminal': [host?: HostArgument];
  'trainyard.copyNodeName': [host?: HostArgument];
  'trainyard.runOnAll': [profile?: ProfileArgument];
  'trainyard.copyToAll': [profile?: ProfileArgument];
  'trainyard.copyToNode': [given?: CopyArgument];
  'trainyard.openTunnel': [profile?: ProfileArgument];
  'trainyard.closeTunnel': [tunnel?: TunnelArgument];
  'trainyard.measureScaling': [given?: MeasureArgument];
  'trainyard.findBestSettings': [given?: MeasureArgument];
  'trainyard.runSweep': [from?: ProfileArgument | RunArgument];
  'trainyard.openReport': [row?: ReportArgument];
  'trainyard.refresh': [];
  'trainyard.newRun': [from?: ProfileArgument | RunArgument | RunWords];
  'trainyard.runTraining': [given?: RunWords | ProfileArgument];
  'trainyard.runOnCluster': [file?: FileArgument];
  'trainyard.trainOnFolder': [folder?: FileArgument];
  'trainyard.runAgain': [how?: AskArgument];
  'trainyard.runDemo': [profile?: ProfileArgument];
  'trainyard.attachRun': [];
  'trainyard.stopAfterCheckpoint': [run?: RunArgument];
  'trainyard.stopNow': [run?: RunArgument];
  'trainyard.openDashboard': [run?: RunArgument | UnderWay];
  'trainyard.openTensorBoard': [run?: RunArgument];
  'trainyard.openTensorBoardInBrowser': [run?: RunArgument];
  'trainyard.openLogs': [run?: RunArgument];
  'trainyard.openTerminal': [run?: RunArgument];
  'trainyard.openWebPage': [run?: RunArgument];
  'trainyard.attachDebugger': [run?: RunArgument];
  'trainyard.showBatchScript': [run?: RunArgument];
  'trainyard.revealRunFolder': [run?: RunArgument];
  'trainyard.copyRunFolder': [run?: RunArgument];
  'trainyard.cloneRun': [run?: RunArgument];
  'trainyard.resumeRun': [run?: ResumeArgument];
  'trainyard.resumeElsewhere': [profile?: ProfileArgument];
  'trainyard.describeRun': [run?: RunArgument];
  'trainyard.compareRuns': [run?: RunArgument | RunsArgument, all?: readonly (RunArgument | RunsArgument)[]];
  'trainyard.filterRuns': [];
  'trainyard.clearRunFilter': [];
  'trainyard.exportRun': [run?: RunArgument];
  'trainyard.downloadFiles': [run?: RunArgument];
  'trainyard.deleteRun': [run?: RunArgument];
  'trainyard.selectRun': [run?: RunArgument];
  'trainyard.verifyCheckpoints': [run?: RunArgument];
  'trainyard.copyCheckpointPath': [checkpoint?: CheckpointArgument];
  'trainyard.downloadCheckpoint': [checkpoint?: CheckpointArgument | RunArgument];
  'trainyard.revealCheckpoint': [checkpoint?: CheckpointArgument | RunArgument];
  'trainyard.deleteCheckpoint': [checkpoint?: CheckpointArgument | RunArgument];
  'trainyard.evaluateCheckpoint': [checkpoint?: CheckpointArgument | RunArgument];
  'trainyard.predictPictures': [checkpoint?: CheckpointArgument | RunArgument];
  'trainyard.runFromCheckpoint': [checkpoint?: CheckpointArgument | RunArgument];
  'trainyard.copyText': [row?: object];
  'trainyard.showOutput': [];
}
export type CommandId = keyof CommandArguments;

/**
 * What a click on a run's row does. It has no arguments: the editor gives up a command with
 * arguments when the row is drawn anew, and a click that is under way then fails. It is in no menu.
 */
export const clickedRunCommand = '_trainyard.openClickedRun';

/** The table whose keys the compiler holds against the interface. */
const commandTable: Record<CommandId, true> = {
  'trainyard.addCluster': true,
  'trainyard.addProfile': true,
  'trainyard.editProfile': true,
  'trainyard.chooseKey': true,
  'trainyard.setPrice': true,
  'trainyard.duplicateProfile': true,
  'trainyard.removeProfile': true,
  'trainyard.importProfile': true,
  'trainyard.exportProfile': true,
  'trainyard.openProfiles': true,
  'trainyard.connect': true,
  'trainyard.disconnect': true,
  'trainyard.checkProfile': true,
  'trainyard.openNodeTerminal': true,
  'trainyard.copyNodeName': true,
  'trainyard.runOnAll': true,
  'trainyard.copyToAll': true,
  'trainyard.copyToNode': true,
  'trainyard.openTunnel': true,
  'trainyard.closeTunnel': true,
  'trainyard.measureScaling': true,
  'trainyard.findBestSettings': true,
  'trainyard.runSweep': true,
  'trainyard.openReport': true,
  'trainyard.refresh': true,
  'trainyard.newRun': true,
  'trainyard.runTraining': true,
  'trainyard.runOnCluster': true,
  'trainyard.trainOnFolder': true,
  'trainyard.runAgain': true,
  'trainyard.runDemo': true,
  'trainyard.attachRun': true,
  'trainyard.stopAfterCheckpoint': true,
  'trainyard.stopNow': true,
  'trainyard.openDashboard': true,
  'trainyard.openTensorBoard': true,
  'trainyard.openTensorBoardInBrowser': true,
  'trainyard.openLogs': true,
  'trainyard.openTerminal': true,
  'trainyard.openWebPage': true,
  'trainyard.attachDebugger': true,
  'trainyard.showBatchScript': true,
  'trainyard.revealRunFolder': true,
  'trainyard.copyRunFolder': true,
  'trainyard.cloneRun': true,
  'trainyard.resumeRun': true,
  'trainyard.resumeElsewhere': true,
  'trainyard.describeRun': true,
  'trainyard.compareRuns': true,
  'trainyard.filterRuns': true,
  'trainyard.clearRunFilter': true,
  'trainyard.exportRun': true,
  'trainyard.downloadFiles': true,
  'trainyard.deleteRun': true,
  'trainyard.selectRun': true,
  'trainyard.verifyCheckpoints': true,
  'trainyard.copyCheckpointPath': true,
  'trainyard.downloadCheckpoint': true,
  'trainyard.revealCheckpoint': true,
  'trainyard.deleteCheckpoint': true,
  'trainyard.evaluateCheckpoint': true,
  'trainyard.predictPictures': true,
  'trainyard.runFromCheckpoint': true,
  'trainyard.copyText': true,
  'trainyard.showOutput': true,
};
export const commandIds = Object.keys(commandTable) as CommandId[];

export const viewIds = {
  clusters: 'trainyard.clusters',
  runs: 'trainyard.runs',
  checkpoints: 'trainyard.checkpoints',
} as const;

/** Types of webview panels; `onWebviewPanel:` activation brings them back after a reload. */
export const panelTypes = {
  dashboard: 'trainyard.dashboard',
  tensorboard: 'trainyard.tensorboard',
  checks: 'trainyard.checks',
  compare: 'trainyard.compare',
  form: 'trainyard.form',
  report: 'trainyard.report',
} as const;

/** The `type` of a task that is a run. */
export const taskType = 'trainyard';

/** A terminal on a node, in the editor's own list of terminals. */
export const terminalProfileId = 'trainyard.node';

export const walkthroughId = 'trainyard.start';

/** Settings with the type and default that package.json declares. */
export interface Settings {
  'trainyard.home': string;
  'trainyard.defaultProfile': string;
  'trainyard.connectAtStart': 'none' | 'default' | 'all';
  'trainyard.tensorboardPort': number;
  'trainyard.refreshInterval': number;
  'trainyard.openDashboardOnRun': boolean;
  'trainyard.openTensorBoardOnRun': boolean;
  'trainyard.notifications.finished': boolean;
  'trainyard.notifications.failed': boolean;
  'trainyard.notifications.stopped': boolean;
  'trainyard.notifications.restarted': boolean;
  'trainyard.notifications.stalled': boolean;
  'trainyard.notifications.nodeLost': boolean;
  'trainyard.notifications.diskLow': boolean;
  'trainyard.notifications.budget': boolean;
  'trainyard.notifications.badImages': boolean;
}
export const settingDefaults: Settings = {
  'trainyard.home': '',
  'trainyard.defaultProfile': '',
  'trainyard.connectAtStart': 'none',
  'trainyard.tensorboardPort': 6006,
  'trainyard.refreshInterval': 2,
  'trainyard.openDashboardOnRun': true,
  'trainyard.openTensorBoardOnRun': false,
  'trainyard.notifications.finished': true,
  'trainyard.notifications.failed': true,
  'trainyard.notifications.stopped': true,
  'trainyard.notifications.restarted': true,
  'trainyard.notifications.stalled': true,
  'trainyard.notifications.nodeLost': true,
  'trainyard.notifications.diskLow': true,
  'trainyard.notifications.budget': true,
  'trainyard.notifications.badImages': true,
};

/** `contextValue`s of tree items, which menus ask for. */
export const contextValues = {
  ownConnected: 'profile.own.connected',
  ownDisconnected: 'profile.own.disconnected',
  builtinConnected: 'profile.builtin.connected',
  builtinDisconnected: 'profile.builtin.disconnected',
  sshConnected: 'profile.ssh.connected',
  sshDisconnected: 'profile.ssh.disconnected',
  host: 'host',
  tunnel: 'tunnel',
  gpu: 'gpu',
  /** A start that waits for GPUs. */
  waiting: 'waiting',
  runsOfProfile: 'runs.profile',
  /** The runs of a report. */
  runsOfReport: 'runs.report',
  /** Of a profile that is not connected: runs as they were when they were seen last. */
  lastRunsOfProfile: 'runs.last',
  lastRun: 'lastRun',
  activeRun: 'run.active',
  overRun: 'run.over',
  /** Failed, stopped or interrupted: it can go on. */
  earlyRun: 'run.over.early',
  checkpoint: 'checkpoint.valid',
  /** No other one is valid: it must stay. */
  lastCheckpoint: 'checkpoint.valid.last',
  damagedCheckpoint: 'checkpoint.damaged',
  /** What would be lost if the run were killed now. */
  risk: 'risk',
  note: 'note',
} as const;

/** Context keys that `when` clauses ask for. */
export const contextKeys = {
  hasRuns: 'trainyard.hasRuns',
  hasDebuggedRun: 'trainyard.hasDebuggedRun',
  hasOwnRun: 'trainyard.hasOwnRun',
  hasSlurmRuns: 'trainyard.hasSlurmRuns',
  hasActiveRun: 'trainyard.hasActiveRun',
  hasTwoRuns: 'trainyard.hasTwoRuns',
  areRunsFiltered: 'trainyard.areRunsFiltered',
  hasOverRun: 'trainyard.hasOverRun',
  hasEarlyRun: 'trainyard.hasEarlyRun',
  canRunAgain: 'trainyard.canRunAgain',
  canConnect: 'trainyard.canConnect',
  canDisconnect: 'trainyard.canDisconnect',
  hasOwnProfiles: 'trainyard.hasOwnProfiles',
  hasSshProfile: 'trainyard.hasSshProfile',
  hasCluster: 'trainyard.hasCluster',
  hasTunnels: 'trainyard.hasTunnels',
  hasCheckpoints: 'trainyard.hasCheckpoints',
  dashboardShown: 'trainyard.dashboardShown',
  tensorboardShown: 'trainyard.tensorboardShown',
} as const;

/** Begins the editor's name of each tool of `src/core/assist`. */
export const toolPrefix = 'trainyard_';

/** What language models in the editor may use; a test holds it against the core's table. */
export const languageToolNames: readonly string[] = [
  'list_profiles',
  'check_profile',
  'list_gpus',
  'list_runs',
  'read_run',
  'read_log',
  'compare_runs',
  'start_run',
  'resume_run',
  'stop_run',
].map((name) => `${toolPrefix}${name}`);
