// Every entry of the views' menus: on which row it is clicked, and what has to be there then. A
// unit test holds that none is missing.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/hostClient.js';
import { answer } from '../support/questions.js';
import type { Stage } from './stage.js';

interface Click {
  /** Text of the row; a view's own buttons have none. */
  row?: string | RegExp;
  /** What the click did. */
  check: (stage: Stage) => Promise<unknown>;
}
/** By the keys of entries.ts, in the order of the clicks. */
export type Clicks = Readonly<Record<string, Click>>;

const training = /mlp-\w+.*finished/;
const asks = (text: string | RegExp) => (stage: Stage) => stage.isAsked(text);
const opens = (title: string) => (stage: Stage) => stage.tab(title);
const copies = (text: RegExp) => (stage: Stage) => stage.clipboard(text);

/** On a profile that is reached by SSH, from not connected to not connected. */
export const cluster: Clicks = {
  'clusters profile.w+.disconnected inline connect': {
    row: 'practice',
    check: async (stage) => {
      await stage.isWarned('does not know the keys', 'Trust and Connect');
      await stage.says('clusters', /"127\.0\.0\.2","description":"[^"]+GB/);
    },
  },
  'clusters profile.w+.connected inline runTraining': { row: 'practice', check: asks('Run Training') },
  'clusters profile.w+.connected menu newRun': { row: 'practice', check: opens('New Run') },
  'clusters profile.w+.connected menu runTraining': { row: 'practice', check: asks('Run Training') },
  'clusters profile.w+.connected menu runSweep': { row: 'practice', check: asks('Run Sweep') },
  'clusters profile.w+.connected menu measureScaling': { row: 'practice', check: asks('Measure Scaling') },
  'clusters profile.w+.connected menu findBestSettings': {
    row: 'practice',
    check: asks('Find Fastest Settings'),
  },
  'clusters profile menu checkProfile': { row: 'practice', check: opens('Checks of practice') },
  'clusters profile menu copyText': { row: 'practice', check: copies(/^practice: (ssh, )?1 node/) },
  'clusters profile menu duplicateProfile': { row: 'practice', check: asks('A name for the profile') },
  'clusters profile.(own|ssh) menu editProfile': { row: 'practice', check: opens('profiles.json') },
  'clusters profile.(own|ssh) menu exportProfile': { row: 'practice', check: asks('Where to?') },
  'clusters profile.(own|ssh) menu removeProfile': {
    row: 'practice',
    check: (stage) => stage.isWarned('practice', 'Cancel'),
  },
  'clusters profile.(own|ssh) menu setPrice': {
    row: 'practice',
    check: async ({ workbench, profiles }) => {
      await answer(workbench, 'Set Price of practice', '0.90 EUR per GPU');
      await until('the price', () => {
        const text = readFileSync(profiles, 'utf8').replace(/\s+/g, '');
        return text.includes('"pricePerGpuHour":0.9,"currency":"EUR"') ? true : undefined;
      });
    },
  },
  'clusters profile.ssh menu resumeElsewhere': {
    row: 'practice',
    check: (stage) => stage.toast('profile practice has no other host'),
  },
  'clusters profile.ssh menu chooseKey': { row: 'practice', check: asks('The key for 127.0.0.2') },
  'clusters profile.ssh.connected menu runOnAll': { row: 'practice', check: asks('A shell command') },
  'clusters profile.ssh.connected menu copyToAll': { row: 'practice', check: asks('Copy to All Nodes') },
  'clusters host inline openNodeTerminal': {
    row: '127.0.0.2',
    check: (stage) => stage.terminal('127.0.0.2'),
  },
  'clusters host menu openNodeTerminal': { row: '127.0.0.2', check: (stage) => stage.terminal('127.0.0.2') },
  'clusters host menu checkProfile': { row: '127.0.0.2', check: opens('Checks of practice') },
  'clusters host menu copyToNode': { row: '127.0.0.2', check: asks('Copy to 127.0.0.2') },
  'clusters host menu copyNodeName': { row: '127.0.0.2', check: copies(/^127\.0\.0\.2$/) },
  'clusters host menu copyText': { row: '127.0.0.2', check: copies(/^127\.0\.0\.2: .*GB/) },
  'clusters profile.ssh.connected menu openTunnel': {
    row: 'practice',
    check: async (stage) => {
      await answer(stage.workbench, 'LOCAL:REMOTE', '18311:9');
      await stage.says('clusters', ':18311');
    },
  },
  'clusters tunnel menu copyText': { row: ':18311', check: copies(/^:18311 → /) },
  'clusters tunnel menu closeTunnel': {
    row: ':18311',
    check: async (stage) => {
      await stage.says('clusters', ':18311', false);
      void stage.workbench.host.command('trainyard.openTunnel', { profile: 'practice' });
      await answer(stage.workbench, 'LOCAL:REMOTE', '18311:9');
      await stage.says('clusters', ':18311');
    },
  },
  'clusters tunnel inline closeTunnel': {
    row: ':18311',
    check: (stage) => stage.says('clusters', ':18311', false),
  },
  'clusters profile.w+.connected menu disconnect': {
    row: 'practice',
    check: (stage) => stage.row('clusters', '127.0.0.2').waitFor({ state: 'detached' }),
  },
  'clusters profile.w+.disconnected menu connect': {
    row: 'practice',
    check: (stage) => stage.says('clusters', /"127\.0\.0\.2","description":"[^"]+GB/),
  },
};

/** On a profile's group in the Runs view, connected and as it was. */
export const groups: Clicks = {
  'runs runs.profile menu newRun': { row: /^local/, check: opens('New Run') },
  'runs runs.profile menu runTraining': { row: /^local/, check: asks('Run Training') },
  'runs runs.profile menu checkProfile': { row: /^local/, check: opens('Checks of local') },
};
/** On the row of a report, with its runs. */
export const reports: Clicks = {
  'runs runs.report menu openReport': {
    row: /^Scaling of local/,
    check: (stage) => stage.toast('was not made by this editor'), // but by the command line
  },
  'runs runs.report menu compareRuns': { row: /^Scaling of local/, check: opens('Compare') },
  'runs runs.report menu copyText': {
    row: /^Scaling of local/,
    check: copies(/^Scaling of local: \d measured · best /),
  },
};
export const lastGroups: Clicks = {
  'runs lastRun menu openDashboard': {
    row: /sh-\w+.*finished/,
    check: (stage) => stage.dashboard(),
  },
};
export const lastRuns: Clicks = {
  'runs runs.last menu connect': {
    row: /connect to see/,
    check: (stage) => stage.says('runs', 'connect to see', false),
  },
};
export const lastRun: Clicks = {
  'runs lastRun menu connect': {
    row: /sh-\w+.*finished/,
    check: (stage) => stage.says('runs', 'connect to see', false),
  },
};

/** On a training that has finished. */
export const finished: Clicks = {
  'runs run inline openDashboard': { row: training, check: (stage) => stage.dashboard() },
  'runs run menu openDashboard': { row: training, check: (stage) => stage.dashboard() },
  'runs run inline openTensorBoard': { row: training, check: opens('TensorBoard') },
  'runs run menu openTensorBoard': { row: training, check: opens('TensorBoard') },
  'runs run menu openTensorBoardInBrowser': {
    row: training,
    check: async ({ workbench }) => {
      const opened = await workbench.page.context().waitForEvent('page', { timeout: 60_000 });
      await opened.close();
    },
  },
  'runs run menu openLogs': { row: training, check: asks(/log/i) },
  'runs run menu openTerminal': { row: training, check: (stage) => stage.terminal('mlp-') },
  'runs run menu selectRun': { row: training, check: (stage) => stage.says('checkpoints', 'step 80') },
  'runs run.over inline cloneRun': { row: training, check: opens('New Run') },
  'runs run menu cloneRun': { row: training, check: opens('New Run') },
  'runs run menu newRun': { row: training, check: opens('New Run') },
  'runs run menu runSweep': { row: training, check: asks('Run Sweep') },
  'runs run menu describeRun': { row: training, check: asks('Name of the run') },
  'runs run menu revealRunFolder': { row: training, check: (stage) => stage.toast(/\/runs\/.*mlp/) },
  'runs run menu copyRunFolder': { row: training, check: copies(/^\/.*\/runs\/.*mlp/) },
  'runs run menu copyText': { row: training, check: copies(/^mlp-\w+: finished[^]*step 80/) },
  'runs run.over menu deleteRun': {
    row: training,
    check: (stage) => stage.isWarned('Delete', 'Cancel'),
  },
};

/** On checkpoints of the training that has finished. */
export const checkpoints: Clicks = {
  'checkpoints checkpoint.valid inline runFromCheckpoint': { row: 'step 80', check: opens('New Run') },
  'checkpoints checkpoint inline copyCheckpointPath': { row: 'step 80', check: copies(/step-00000080$/) },
  'checkpoints checkpoint menu copyCheckpointPath': { row: 'step 60', check: copies(/step-00000060$/) },
  'checkpoints checkpoint menu copyText': { row: 'step 60', check: copies(/^step 60: [^]*step-00000060/) },
  'checkpoints title verifyCheckpoints': { check: (stage) => stage.toast('4 checkpoints') },
};

/** Removes a checkpoint behind the editor's back, before the click. */
export const lose = (stage: Stage, step: number): void => {
  const name = `checkpoints/step-${String(step).padStart(8, '0')}`;
  rmSync(join(stage.run('mlp'), name), { recursive: true });
};
/** Each after a checkpoint was lost, of the step that stands here. */
export const refreshes: readonly (readonly [number, Clicks])[] = [
  [20, { 'clusters title refresh': { check: (stage) => stage.says('checkpoints', 'step 20', false) } }],
  [40, { 'runs title refresh': { check: (stage) => stage.says('checkpoints', 'step 40', false) } }],
  [60, { 'checkpoints title refresh': { check: (stage) => stage.says('checkpoints', 'step 60', false) } }],
];

/** On a training that goes on until it is stopped, and is resumed. */
export const active: Clicks = {
  'checkpoints risk menu openDashboard': { row: 'at risk', check: (stage) => stage.dashboard() },
  'checkpoints risk menu copyText': { row: 'at risk', check: copies(/^at risk if killed now/) },
  'runs run.active inline stopAfterCheckpoint': {
    row: /mlp-\w+.*running/,
    check: (stage) => stage.phase('mlp', 'stopped'),
  },
  'runs run.over.early inline resumeRun': {
    row: /mlp-\w+.*stopped/,
    check: (stage) => stage.phase('mlp', 'running'),
  },
  'checkpoints risk menu stopAfterCheckpoint': {
    row: 'at risk',
    check: (stage) => stage.phase('mlp', 'stopped'),
  },
  'runs run.over.early menu resumeRun': {
    row: /mlp-\w+.*stopped/,
    check: (stage) => stage.phase('mlp', 'running'),
  },
  'runs run.active menu stopNow': {
    row: /mlp-\w+.*running/,
    check: async (stage) => {
      await stage.isWarned('Stop', 'Stop Now');
      await stage.phase('mlp', 'stopped');
      await stage.workbench.host.command('trainyard.resumeRun', {
        ...{ profile: 'local', id: stage.run('mlp').split('/').at(-1), dir: stage.run('mlp') },
      });
      await stage.phase('mlp', 'running');
    },
  },
  'runs run.active menu stopAfterCheckpoint': {
    row: /mlp-\w+.*running/,
    check: (stage) => stage.phase('mlp', 'stopped'),
  },
};

/** Buttons of the views, and what stands behind their three dots. */
export const titles: Clicks = {
  'clusters title addCluster': { check: asks('Add Cluster') },
  'clusters more addProfile': { check: asks('Add Profile') },
  'clusters more importProfile': { check: asks('Import') },
  'clusters more openProfiles': { check: opens('profiles.json') },
  'runs title newRun': { check: opens('New Run') },
  'runs title runTraining': { check: asks('Run Training') },
  'runs title compareRuns': { check: asks('Which runs? Two or more') },
  'runs more attachRun': { check: asks('Which run?') },
  'runs more filterRuns': {
    check: async (stage) => {
      await stage.says('runs', '"mlp');
      await answer(stage.workbench, 'Filter Runs', 'status:failed nothing-is-called-so');
      await stage.says('runs', '"mlp', false);
      await stage.pane('runs').getByText('No run fits the filter').waitFor();
    },
  },
  'runs title clearRunFilter': { check: (stage) => stage.says('runs', '"mlp') },
  'runs more showOutput': {
    check: async ({ workbench }) => {
      await workbench.page.locator('.panel .action-item.checked', { hasText: /output/i }).waitFor();
      await workbench.host.command('workbench.action.closePanel');
    },
  },
  'runs title runAgain': {
    check: async (stage) => {
      await stage.phase('mlp', 'running'); // the last one was stopped
      stage.workbench.cli('stop', stage.run('mlp'), '--now');
    },
  },
  'runs more runDemo': {
    check: async (stage) => {
      await stage.says('runs', '"demo"');
      stage.workbench.cli('stop', stage.workbench.runs().at(-1) ?? '', '--now');
    },
  },
};

/** On GPUs that are scripted, one of which is held, and on a start that waits for both. */
export const gpus: Clicks = {
  'clusters gpu menu newRun': { row: 'GPU 0', check: opens('New Run') },
  'clusters gpu menu copyText': { row: 'GPU 0', check: copies(/GPU 0: [^]*GPU-/) },
  'clusters waiting menu copyText': { row: '1st in the queue', check: copies(/^1st in the queue: 2 GPUs/) },
};

/** What another test clicks: its file, and the words there. */
export const elsewhere: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'runs runs.last inline connect': ['addCluster.test.ts', "getByRole('button', { name: 'Connect' }).click()"],
  'runs run.active menu openWebPage': ['ownProgram.test.ts', "'Open Web Page')"],
  'runs run.active menu attachDebugger': ['ownProgram.test.ts', "'Attach Debugger')"],
  'runs run menu showBatchScript': ['../long/editorSlurm.test.ts', "'Show Batch Script')"],
  'runs run menu exportRun': ['../long/editorExport.test.ts', "'Export Run…')"],
  'runs run menu downloadFiles': ['checkpoints.test.ts', "'Download Files of Run…')"],
  'runs run menu compareRuns': ['commands.test.ts', "'Compare Runs…')"],
  'checkpoints checkpoint.valid menu runFromCheckpoint': [
    'checkpoints.test.ts',
    "'New Run from This Checkpoint…')",
  ],
  'checkpoints checkpoint.valid menu evaluateCheckpoint': ['checkpoints.test.ts', "'Evaluate Now')"],
  'checkpoints checkpoint.valid menu predictPictures': ['checkpoints.test.ts', "'Predict on Pictures…')"],
  'checkpoints checkpoint.valid menu downloadCheckpoint': ['checkpoints.test.ts', "'Download Checkpoint…')"],
  'checkpoints checkpoint menu revealCheckpoint': ['checkpoints.test.ts', "'Reveal Checkpoint')"],
  'checkpoints checkpoint.(valid|damaged) menu deleteCheckpoint': [
    'checkpoints.test.ts',
    "'Delete Checkpoint…')",
  ],
};

export const allClicks: readonly Clicks[] = [
  ...[cluster, reports, groups, lastGroups, lastRuns, lastRun, finished, checkpoints, active, titles, gpus],
  ...refreshes.map(([, clicks]) => clicks),
];
