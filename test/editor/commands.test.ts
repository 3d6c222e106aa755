// Every command once: what it asks is answered in the window, what it does is looked at.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandIds, type CommandId } from '../../src/contributions.js';
import { lastOnly } from '../support/harness.js';
import { clicked } from './menus/clickedCommands.js';
import { until } from './support/hostClient.js';
import { addProfile, startNodes } from './support/practice.js';
import * as questions from './support/questions.js';
import { Workbench } from './support/workbench.js';

const words = 'train --model mlp --data synthetic --batch-size 8 --steps 80 --checkpoint-every 20'.split(' ');
const endless = lastOnly([...words, '--steps', '1000000', '--log-every', '500']);

let workbench: Workbench;
const given = new Set<CommandId>();
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showViews();
});
afterAll(() => workbench.close());

const command = (id: CommandId, ...args: unknown[]): Promise<unknown> => {
  given.add(id);
  return workbench.host.command(id, ...args);
};
const choose = (): Promise<void> => questions.choose(workbench);
const answer = (question: string, text: string): Promise<void> => questions.answer(workbench, question, text);
const typeInTerminal = (line: string, done: () => boolean): Promise<void> =>
  questions.typeLine(workbench, line, done);
const nameIt = (name: string): Promise<void> => answer('A name for the profile', name);
const press = (name: string): Promise<void> =>
  workbench.page.locator('.monaco-dialog-box').getByRole('button', { name, exact: true }).click();
const profiles = (): string => readFileSync(join(workbench.folder, 'home/profiles.json'), 'utf8');
const saysProfile = (name: string): true | undefined => (profiles().includes(`"${name}"`) ? true : undefined);

interface Run {
  profile: string;
  id: string;
  dir: string;
}
const newest = (): Run => {
  const dir = workbench.runs().at(-1) ?? '';
  return { profile: 'local', id: dir.split('/').at(-1) ?? '', dir };
};
const tabOf = (words: string): Promise<true> =>
  until(words, async () =>
    (await workbench.host.ask('tabs', {})).some(({ label }) => label.includes(words)) ? true : undefined,
  );
/** In front: of this run, or of any. */
const dashboardOf = (run?: string): Promise<true> =>
  until('a dashboard in front', async () => {
    const { dashboards } = await workbench.snapshot();
    return dashboards.some(({ dir, visible }) => visible && dir === (run ?? dir)) ? true : undefined;
  });
const boardIs = (state: string): Promise<true> =>
  until(
    `TensorBoard ${state}`,
    async () => ((await workbench.snapshot()).tensorboards[0]?.state === state ? true : undefined),
    60,
  );
const phase = (dir: string, wanted: string): Promise<true> =>
  until(`run ${wanted}`, () => (workbench.state(dir).phase === wanted ? true : undefined), 60);

test('profiles: add, edit, duplicate, remove, import, open', async () => {
  const adding = command('trainyard.addProfile');
  await choose();
  await nameIt('second');
  await adding;
  await until('second in the tree', async () =>
    (await workbench.snapshot()).clusters.some(({ label }) => label === 'second') ? true : undefined,
  );
  const clustering = command('trainyard.addCluster');
  await workbench.page.locator('.quick-input-widget:visible').getByText('Add Cluster').waitFor();
  await workbench.page.keyboard.press('Escape');
  await clustering;
  const duplicating = command('trainyard.duplicateProfile', { profile: 'second' });
  await nameIt('third');
  await duplicating;
  const exporting = command('trainyard.exportProfile', { profile: 'second' });
  await questions.pick(workbench, 'Where to?', 'Into this workspace');
  await exporting;
  const removing = command('trainyard.removeProfile', { profile: 'second' });
  await press('Remove');
  await removing;
  expect(saysProfile('second')).toBeUndefined();
  expect(saysProfile('third')).toBe(true);
  await command('trainyard.editProfile', { profile: 'third' });
  await command('trainyard.openProfiles');
  expect((await workbench.host.ask('tabs', {})).map(({ label }) => label).join()).toContain('profiles.json');
  await workbench.host.command('workbench.action.closeAllEditors');
  const hosts = join(workbench.folder, 'workspace/hosts');
  await workbench.writeFile(hosts, 'me@127.0.0.1:9\nme@127.0.0.2:9\n');
  const importing = command('trainyard.importProfile');
  await choose(); // a hosts file
  await answer('Import a Hosts File', hosts);
  await nameIt('lab');
  await importing;
  expect(profiles()).toContain('"host": "127.0.0.2"');
});

test('a key is chosen for the hosts of a profile', async () => {
  const key = join(workbench.folder, 'no-such-key');
  const choosing = command('trainyard.chooseKey', { profile: 'lab', host: '127.0.0.1' });
  await workbench.page.getByPlaceholder('The key for 127.0.0.1, 127.0.0.2').waitFor();
  await answer('Choose Key for lab', key);
  const failed = workbench.page.locator('.notification-toast', { hasText: 'no-such-key' }).first();
  await failed.getByText('Choose Key…').waitFor(); // it was tried, and may be chosen once more
  await choosing;
  expect(profiles().match(/no-such-key/g)).toHaveLength(2);
  await workbench.host.command('notifications.clearAll');
});

test('connection: a host that cannot be reached is named, this machine connects again', async () => {
  await command('trainyard.connect', { profile: 'lab' });
  await until('why not', async () =>
    JSON.stringify((await workbench.snapshot()).clusters).includes('127.0.0.1') ? true : undefined,
  );
  await command('trainyard.disconnect', { profile: 'local' });
  await until('disconnected', async () =>
    (await workbench.snapshot()).clusters[0]?.description.includes('not connected') === true
      ? true
      : undefined,
  );
  await command('trainyard.connect', { profile: 'local' });
  await until('figures', async () =>
    (await workbench.snapshot()).clusters[0]?.description.includes('GB') === true ? true : undefined,
  );
  await command('trainyard.refresh');
});

test('a cluster over SSH: keys reviewed once, checks, terminal, a command and a copy for all, a tunnel', async () => {
  const cluster = await startNodes(join(workbench.folder, 'practice'), 2);
  try {
    await addProfile(workbench, { ...cluster.profile, name: 'practice' });
    const given = { profile: 'practice' };
    const connecting = command('trainyard.connect', given);
    const review = workbench.page.locator('.monaco-dialog-box', { hasText: 'these 2 hosts' });
    await review.getByText(cluster.nodes[1]!.hostKeyFingerprint).waitFor();
    await workbench.screenshot('host-keys', 'dark', 1600);
    await press('Trust and Connect');
    await connecting;
    const hosts = await until('figures of both nodes', async () => {
      const { clusters } = await workbench.snapshot();
      const items = clusters.find(({ label }) => label === 'practice')?.children ?? [];
      return items.length === 2 && items.every(({ description }) => description.includes('GB'))
        ? items
        : undefined;
    });
    expect(hosts.map(({ label }) => label)).toEqual(['127.0.0.2', '127.0.0.3']);

    await command('trainyard.openNodeTerminal', { ...given, host: '127.0.0.3' });
    const home = cluster.nodes[1]!.home;
    await typeInTerminal('echo typed > $HOME/seen', () => existsSync(join(home, 'seen')));
    await command('trainyard.copyNodeName', { ...given, host: '127.0.0.3' });
    const offering = workbench.host.command('workbench.action.terminal.newWithProfile');
    const rows = workbench.page.locator('.quick-input-list:visible .monaco-list-row');
    for (const words of ['Terminal on a Node', 'practice', '127.0.0.2'])
      await rows.filter({ hasText: words }).click();
    await offering;
    await workbench.page.locator('.terminal-tabs-entry', { hasText: '127.0.0.2' }).click();
    const other = join(cluster.nodes[0]!.home, 'seen');
    await typeInTerminal('echo typed > $HOME/seen', () => existsSync(other));
    const running = command('trainyard.runOnAll', given);
    await answer('A shell command', 'echo I am at $HOME');
    await running;
    await workbench.page.getByText(`I am at ${home}`).first().waitFor();

    const source = join(workbench.folder, 'workspace/words.txt');
    await workbench.writeFile(source, 'words\n');
    const copying = command('trainyard.copyToAll', given);
    await answer('Copy to All Nodes', source);
    await answer('Where to, on each node', '~/texts/words.txt');
    await copying;
    for (const node of cluster.nodes) {
      expect(readFileSync(join(node.home, 'texts/words.txt'), 'utf8')).toBe('words\n');
    }

    for (const name of ['train', 'validation']) {
      mkdirSync(join(cluster.nodes[0]!.home, 'images', name, 'rose'), { recursive: true });
    }
    const choosing = command('trainyard.runTraining', given);
    await answer('Run Training: what', 'Folder of images');
    const widget = workbench.page.locator('.quick-input-widget:visible');
    await widget.getByText(/train on this folder/).waitFor();
    await workbench.page.keyboard.type('ima');
    await widget.getByText('~/images/', { exact: true }).waitFor();
    await workbench.page.keyboard.press('Enter');
    await widget.getByText('train on this folder: 2 folders, 0 files').waitFor();
    await workbench.screenshot('remote-folder', 'dark', 1600);
    await workbench.page.keyboard.press('Enter');
    await answer('Run Training: model', 'resnet20');
    await widget.getByText('Run on practice').waitFor();
    expect(await widget.locator('input').first().inputValue()).toContain(
      '--data ~/images/train --eval-data ~/images/validation',
    );
    await workbench.page.keyboard.press('Escape');
    await choosing;

    const server = createServer((_, response) => response.end('through the tunnel'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const opening = command('trainyard.openTunnel', given);
    await answer('LOCAL:REMOTE', `18211:${port}`);
    await opening;
    expect(await (await fetch('http://127.0.0.1:18211/')).text()).toBe('through the tunnel');
    await until('the tunnel in the tree', async () =>
      JSON.stringify((await workbench.snapshot()).clusters).includes(':18211') ? true : undefined,
    );
    await workbench.host.command('notifications.clearAll');
    await workbench.screenshot('cluster', 'dark', 1600);
    await command('trainyard.closeTunnel', { ...given, tunnel: `18211:${port}` });
    await expect(fetch('http://127.0.0.1:18211/')).rejects.toThrow();
    server.close();
    await command('trainyard.disconnect', given);
  } finally {
    await cluster.stop();
  }
});

test('a check, and a deep one that its page is asked for', async () => {
  await command('trainyard.checkProfile', { profile: 'local' });
  await tabOf('Checks of local');
  await workbench.host.command('workbench.action.closePanel');
  await workbench.host.command('notifications.clearAll');
  await workbench.webview().getByText('Everything is as a run needs it').waitFor();
  await workbench.screenshot('checks', 'dark', 1600);
  await workbench.webview().getByRole('button', { name: 'Deep Check' }).click();
  await workbench.webview().getByText('Checked deeply at').waitFor();
  await workbench.webview().getByRole('rowheader', { name: 'matmul' }).waitFor();
});

test('a run: started, cloned, run again; dashboard, logs, terminal, checkpoints', async () => {
  await command('trainyard.runTraining', { words, ranks: 2 });
  const run = newest();
  await phase(run.dir, 'finished');
  await command('trainyard.selectRun', run);
  const shown = await until('checkpoints', async () => {
    const { checkpoints } = await workbench.snapshot();
    return checkpoints.length === 4 ? checkpoints : undefined;
  });
  expect(shown[0]).toMatchObject({ label: 'step 80' });
  expect(shown[0]?.description).toContain('latest');
  await command('trainyard.verifyCheckpoints', run);
  await command('trainyard.copyCheckpointPath', { ...run, step: 80, path: 'checkpoints/step-00000080' });
  for (const id of ['copyRunFolder', 'showBatchScript'] as const) await command(`trainyard.${id}`, run);
  const opening = command('trainyard.openLogs', run);
  await questions.pick(workbench, 'Which log?', 'supervisor');
  await opening;
  await tabOf('supervisor.log');
  await command('trainyard.openDashboard', run);
  await dashboardOf(run.dir);
  await command('trainyard.openTerminal', run);
  const seen = join(run.dir, 'seen');
  await typeInTerminal(
    'echo $TRAINYARD_RUN_DIR > $TRAINYARD_RUN_DIR/seen; which mpiexec >> seen',
    () => existsSync(seen) && readFileSync(seen, 'utf8').includes('bin/mpiexec'),
  );
  const naming = command('trainyard.describeRun', run);
  await answer('Name of the run', 'larger batch');
  await answer('Tags, with commas', 'baseline, lr 0.1');
  await answer('Notes', 'as in the paper');
  await naming;
  await workbench.page
    .locator('.sidebar .monaco-list-row', { hasText: /larger batch.*#baseline #lr 0\.1/ })
    .waitFor();
  await command('trainyard.cloneRun', run);
  await workbench.webview().getByText("--name 'larger batch'").waitFor();
  await questions.startForm(workbench);
  const clone = newest();
  expect(clone.dir).not.toBe(run.dir);
  await phase(clone.dir, 'finished');
  await workbench.webview().locator('trainyard-header').waitFor(); // a page takes no key before it is there
  await workbench.page.keyboard.press('Control+Alt+r');
  await workbench.page.locator('.monaco-dialog-box', { hasText: 'Run again on local?' }).waitFor();
  await press('Cancel');
  expect(newest().dir).toBe(clone.dir);
  await command('trainyard.runAgain');
  await phase(newest().dir, 'finished');
  const script = join(workbench.folder, 'workspace/go.sh');
  await workbench.writeFile(script, 'echo went\n');
  const going = command('trainyard.runOnCluster', { scheme: 'file', fsPath: script });
  await questions.pick(workbench, 'Where to run it?', 'local');
  await questions.pick(workbench, 'How to start go.sh?', 'one process');
  await answer('Arguments of go.sh', '');
  await going;
  await phase(newest().dir, 'finished');
  await command('trainyard.newRun', { profile: 'local' });
  await questions.fillForm(workbench, 'echo filled in');
  await dashboardOf(newest().dir); // it takes the focus, which closes a question
  const attaching = command('trainyard.attachRun');
  await choose();
  await attaching;
  const row = workbench.page.locator('.sidebar .monaco-list-row', { hasText: /larger batch.*finished/ });
  await workbench.host.command('workbench.action.closeAllEditors');
  await row.first().click();
  await dashboardOf();
  await command('trainyard.showOutput');
}, 150_000);

test('two runs that are selected in the list are compared, by the menu of one of them', async () => {
  // Trainings, which have a loss.
  const rows = workbench.page.locator('.sidebar .monaco-list-row', { hasText: /larger batch.*finished/ });
  await rows.nth(1).waitFor();
  await workbench.host.command('workbench.action.closeAllEditors');
  await rows.nth(0).click();
  await dashboardOf();
  await rows.nth(1).click({ modifiers: ['Control'] });
  given.add('trainyard.compareRuns');
  await questions.clickMenu(workbench, rows.nth(1), 'Compare Runs…');
  const comparison = workbench.webview();
  await comparison.getByRole('heading', { name: '2 runs compared' }).waitFor();
  await comparison.locator('.runs tbody tr').nth(1).waitFor();
  expect(await comparison.locator('.runs tbody tr').count()).toBe(2);
  await comparison.getByRole('heading', { name: 'Loss of training' }).waitFor();
});

test('TensorBoard opens in a tab with the curves', async () => {
  const [dir = ''] = workbench.runs();
  await workbench.host.ask('setting', { key: 'trainyard.tensorboardPort', value: 18300 });
  await command('trainyard.openTensorBoard', { profile: 'local', id: dir.split('/').at(-1), dir });
  await boardIs('serving');
  const [board] = (await workbench.snapshot()).tensorboards;
  expect(board?.url).toMatch(/\/proxy\/183\d\d\/.*pinnedCards/);
  expect(new URL(board?.url ?? '').pathname).toMatch(/\/[0-9a-f]{32}\/$/); // the bridge's key
  const inner = workbench.webview().frameLocator('iframe[title="TensorBoard"]');
  await workbench.host.command('workbench.action.closePanel');
  for (const theme of ['dark', 'light'] as const) {
    await workbench.theme(theme);
    const body = inner.locator(theme === 'dark' ? 'body.dark-mode' : 'body:not(.dark-mode)');
    await body.getByText('loss', { exact: true }).first().waitFor({ timeout: 60_000 });
    await workbench.page.waitForTimeout(2000);
    await workbench.screenshot('tensorboard', theme, 1600);
  }
});

test('TensorBoard that was ended says so, and starts again', async () => {
  workbench.cli('tensorboard', workbench.runs()[0]!, '--stop');
  await boardIs('gone');
  const restart = workbench.webview().getByRole('button', { name: 'Restart' });
  await restart.waitFor();
  await workbench.screenshot('tensorboard-gone', 'dark', 800);
  await restart.click();
  await boardIs('serving');
});

test('stopping: after a checkpoint, and now; deleting', async () => {
  await command('trainyard.runTraining', { words: endless, ranks: 2 });
  const first = newest();
  await phase(first.dir, 'running');
  await until('steps', () => (existsSync(join(first.dir, 'metrics.jsonl')) ? true : undefined), 30);
  await command('trainyard.stopAfterCheckpoint', first);
  await phase(first.dir, 'stopped');
  await command('trainyard.runTraining', { words: endless, ranks: 2 });
  const second = newest();
  await phase(second.dir, 'running');
  const stopping = command('trainyard.stopNow', second);
  await press('Stop Now');
  await stopping;
  await phase(second.dir, 'stopped');
  await command('trainyard.openTerminal', second); // its shell must not keep the folder
  const deleting = command('trainyard.deleteRun', second);
  await press('Delete');
  await deleting;
  expect(existsSync(second.dir)).toBe(false);
});

test('the rest of them', async () => {
  const [dir = ''] = workbench.runs();
  const run = { profile: 'local', id: dir.split('/').at(-1), dir };
  void command('trainyard.revealRunFolder', run).catch(() => undefined);
  await workbench.page.locator('.notification-toast', { hasText: dir }).first().waitFor();
  const opening = workbench.page.context().waitForEvent('page', { timeout: 60_000 });
  void command('trainyard.openTensorBoardInBrowser', run).catch(() => undefined);
  const browser = await opening; // its address was good once, and has led to the bridge's key
  await browser.getByText('loss', { exact: true }).first().waitFor({ timeout: 60_000 });
  expect(new URL(browser.url()).pathname).toMatch(/^\/proxy\/\d+\/[0-9a-f]{32}\/$/);
  await browser.close();
  await command('trainyard.resumeRun', run);
  await workbench.page
    .locator('.notification-toast', { hasText: 'has finished: nothing is left to do' })
    .waitFor();
  await command('trainyard.runDemo');
  const demo = newest();
  expect(demo.id).toContain('demo');
  await phase(demo.dir, 'running');
  expect([...given, ...clicked].sort()).toEqual([...commandIds].sort());
});
