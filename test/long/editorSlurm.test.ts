// A Slurm cluster in the editor: added by its login node, and a run on it, with its script, a
// terminal on its compute node and TensorBoard. A real Slurm on this machine, as root.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPracticeSlurm, whyNoSlurm, type PracticeSlurm } from '../../scripts/practice/slurm.mjs';
import { linkRuntime } from '../cluster/support/hosts.js';
import { until } from '../editor/support/hostClient.js';
import { homeWithHosts } from '../editor/support/practice.js';
import { clickMenu, typeLine } from '../editor/support/questions.js';
import { Workbench } from '../editor/support/workbench.js';

const why = whyNoSlurm();

describe.skipIf(why)(`Slurm in the editor${why === undefined ? '' : ` (${why})`}`, () => {
  let workbench: Workbench;
  let slurm: PracticeSlurm;
  const dir = mkdtempSync(join(tmpdir(), 'ty-editor-slurm-'));

  beforeAll(async () => {
    slurm = await startPracticeSlurm();
    linkRuntime(join(slurm.login.nodes[0]?.home ?? '', '.trainyard'));
    workbench = await Workbench.open(undefined, {}, homeWithHosts(dir, slurm.login, ['login']));
    await workbench.showViews();
  });
  afterAll(async () => {
    await workbench.close();
    await slurm.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const press = (key: string): Promise<void> => workbench.page.keyboard.press(key);
  const widget = () => workbench.page.locator('.quick-input-widget:visible');
  const dialog = () => workbench.page.locator('.monaco-dialog-box:visible');

  test('Add Cluster lists the partitions of a login node, and the chosen one is the profile', async () => {
    await workbench.palette('Trainyard: Add Cluster');
    await press('Enter');
    await widget().getByText('@127.0.0.').first().waitFor(); // what ssh says: the list stays as it is
    for (const key of ['ArrowDown', 'Space', 'Enter']) await press(key);
    await widget().getByText('Enter connects to login').waitFor();
    await press('Enter');
    await dialog().getByText(slurm.login.nodes[0]!.hostKeyFingerprint).waitFor();
    await press('Enter');
    await widget().getByText('login Belongs to a Slurm Cluster').waitFor({ timeout: 60_000 });
    await workbench.screenshot('add-partition', 'dark', 1280, 800);
    const rows = await widget().locator('.monaco-list-row').allInnerTexts();
    const free = '2 of 2 nodes idle; 4 of 4 GPUs free; at most 60 min';
    expect(rows.map((row) => row.replace(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(new RegExp(`^work ?the default partition ${free}$`)),
      `urgent ${free}`,
      'Without Slurm, on login Itself runs start at once there, outside of the queue',
    ]);
    await press('ArrowDown');
    await press('Enter');
    await widget().getByText('login is connected: 1 node').waitFor({ timeout: 60_000 });
    await press('Escape');
    const saved: unknown = JSON.parse(readFileSync(join(workbench.folder, 'home/profiles.json'), 'utf8'));
    const slurmFields = { partition: 'urgent', gpusPerNode: 2 };
    expect(saved).toMatchObject({
      profiles: [{ name: 'local' }, { name: 'login', kind: 'slurm', slurm: slurmFields }],
    });
  });

  test('the form shows the script of a run that was not started', async () => {
    const { host } = workbench;
    await host.command('trainyard.newRun', { profile: 'login' });
    const form = workbench.webview();
    // A field to type into, until the login node has said which there are.
    await form.locator('select#slurm-partition').selectOption('urgent');
    await form.getByRole('button', { name: 'Show Batch Script' }).press('Enter');
    const editor = workbench.page.locator('.monaco-editor .view-lines', { hasText: '#SBATCH' });
    await editor.getByText('--partition=').first().waitFor({ timeout: 60_000 });
    expect((await editor.innerText()).replaceAll('\u00a0', ' ')).toContain('--partition="urgent"');
    const runs = join(slurm.login.nodes[0]?.home ?? '', '.trainyard/runs');
    expect(existsSync(runs) ? readdirSync(runs) : []).toEqual([]);
    await host.command('workbench.action.closeAllEditors');
  });

  test('a run shows its script, a terminal on its compute node, and TensorBoard; a stop ends its job', async () => {
    const words = 'train --model mlp --data synthetic --steps 100000000 --threads 1 --device cpu'.split(' ');
    const { host } = workbench;
    await host.command('trainyard.runTraining', { profile: 'login', words, ranks: 1 });
    const runs = join(slurm.login.nodes[0]?.home ?? '', '.trainyard/runs');
    const [id = ''] = readdirSync(runs);
    const run = { profile: 'login', id, dir: join(runs, id) };
    const tabs = async (): Promise<string[]> => (await host.ask('tabs', {})).map(({ label }) => label);
    await until('a step', () => (existsSync(join(run.dir, 'metrics.jsonl')) ? true : undefined), 60);
    await workbench.showViews();
    const row = workbench.page.locator('.sidebar .monaco-list-row', { hasText: /^mlp-\w+.*running/ }).first();
    await clickMenu(workbench, row, 'Show Batch Script');
    await until('the script', async () => ((await tabs()).includes(`${id} slurm.sh`) ? true : undefined));
    await host.command('trainyard.openTensorBoard', run);
    await until(
      'TensorBoard',
      async () => ((await workbench.snapshot()).tensorboards[0]?.state === 'serving' ? true : undefined),
      60,
    );
    await host.command('trainyard.openTerminal', run);
    const seen = join(run.dir, 'seen');
    const isThere = (): boolean => existsSync(seen) && readFileSync(seen, 'utf8') === 'n1\n';
    await typeLine(workbench, 'echo $SLURMD_NODENAME > $TRAINYARD_RUN_DIR/seen', isThere);
    await host.command('trainyard.stopAfterCheckpoint', run);
    await until('its end', () => (slurm.ask('squeue', '-h', '-o', '%i') === '' ? true : undefined), 60);
  });
});
