// A program of the user's from a file of the workspace: by the explorer's menu.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { debugpyPython } from '../support/pinnedPython.js';
import { expectExit, runCli } from '../support/harness.js';
import { Stage } from './menus/stage.js';
import { until } from './support/hostClient.js';
import { addProfile, startNodes } from './support/practice.js';
import { answer, clickMenu, pick } from './support/questions.js';
import { Workbench } from './support/workbench.js';

const program = `import os, sys
print("in", os.getcwd())
print("given", sys.argv[1:])
`;

/** The nearer to 3, the better. */
const score = `import json, os, sys, time
x = float(sys.argv[1])
while x == 2 and not os.path.exists("go"):
    time.sleep(0.1)
with open(os.path.join(os.environ["TRAINYARD_RUN_DIR"], "metrics.jsonl"), "a") as file:
    file.write(json.dumps({"step": 1, "loss": abs(x - 3)}) + "\\n")
`;

let workbench: Workbench;
beforeAll(async () => {
  const files = {
    ...{ 'src/hello.py': program, 'src/score.py': score, 'notes.txt': 'no program\n' },
    'src/needs.py': 'import six\nprint("has six", six.__version__)\n',
  };
  workbench = await Workbench.open(undefined, files);
});
afterAll(() => workbench.close());

/** Says where it listens, as Jupyter and others do. */
const page = `import http.server
class Page(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"the page of a run" if "token=s3" in self.path else b"no token")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
print("http://127.0.0.1:%d/?token=s3" % server.server_port, flush=True)
server.serve_forever()
`;

const over = async (count: number, phase: string): Promise<string> => {
  await until(
    `${count} runs, the last one ${phase}`,
    () => (workbench.startedRuns().length === count ? true : undefined),
    60,
  );
  const run = workbench.runs().at(-1) ?? '';
  await until(`run ${phase}`, () => (workbench.state(run).phase === phase ? true : undefined), 60);
  return run;
};
const explorer = (name: string): Locator =>
  workbench.page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
const log = (run: string, rank = 0): string => readFileSync(join(run, `logs/rank-${rank}.log`), 'utf8');
const record = (run: string): { argv: string[]; cwd: string; label: string; ranks: number } =>
  JSON.parse(readFileSync(join(run, 'run.json'), 'utf8')) as ReturnType<typeof record>;

test('a Python file runs by the menu of the explorer', async () => {
  await workbench.host.command('workbench.view.explorer');
  await explorer('src').first().click();
  await clickMenu(workbench, explorer('hello.py').first(), 'Run on Cluster…');
  await pick(workbench, 'How to start hello.py?', 'Once for Each Slot');
  await answer(workbench, 'Arguments of hello.py', '--name "two words"');
  const run = await over(1, 'finished');
  expect(log(run)).toBe(`in ${join(workbench.folder, 'workspace')}\ngiven ['--name', 'two words']\n`);
  expect(record(run)).toMatchObject({
    argv: ['python3', 'src/hello.py', '--name', 'two words'],
    cwd: join(workbench.folder, 'workspace'),
    label: 'hello.py',
    ranks: 2,
  });
  expect(log(run, 1)).toContain('given');
  await until('the run in the tree', async () => {
    const text = JSON.stringify((await workbench.snapshot()).runs);
    return text.includes('hello.py') && text.includes('finished') ? true : undefined;
  });
  await workbench.webview().getByText('finished').first().waitFor();
  await workbench.webview().getByText("given ['--name', 'two words']").first().waitFor();
});

test('a folder is the data of a new run by the menu of the explorer', async () => {
  await workbench.host.command('workbench.view.explorer');
  await clickMenu(workbench, explorer('src').first(), 'Train on This Folder…');
  const data = workbench.webview().getByLabel('Training images');
  await expect
    .poll(() => data.inputValue(), { timeout: 30_000 })
    .toBe(join(workbench.folder, 'workspace/src'));
  await workbench.webview().getByRole('button', { name: 'Choose…' }).waitFor();
  await workbench.host.command('workbench.action.closeActiveEditor');
});

test('the same by the menu of the editor, with the answers remembered', async () => {
  const { page } = workbench;
  await explorer('hello.py').first().dblclick();
  const text = page.locator('.editor-instance .view-line', { hasText: 'import os' }).first();
  await text.waitFor();
  await clickMenu(workbench, text, 'Run on Cluster…');
  const first = page.locator('.quick-input-widget:visible .monaco-list-row').first();
  await first.getByText('Once for Each Slot').waitFor();
  for (const theme of ['light', 'dark'] as const) await workbench.screenshot('run-file', theme, 1600);
  await page.keyboard.press('Enter');
  const box = page.locator('.quick-input-widget:visible', { hasText: 'Arguments of hello.py' });
  await box.waitFor();
  expect(await box.locator('input').first().inputValue()).toBe('--name "two words"');
  await page.keyboard.press('Enter');
  expect(log(await over(2, 'finished'))).toContain("given ['--name', 'two words']");
});

test('what cannot be run says what to do', async () => {
  const { page } = workbench;
  const given = (name: string): object => ({
    scheme: 'file',
    fsPath: join(workbench.folder, 'workspace', name),
  });
  const says = (words: string): Promise<void> =>
    page.locator('.notification-toast', { hasText: words }).first().waitFor();
  await workbench.host.command('trainyard.runOnCluster', given('notes.txt'));
  await says('Choose a file whose name ends in .py or .sh');
  await workbench.host.command('trainyard.runOnCluster', given('gone.py'));
  await says('Choose another one, or save this one first');
  await addProfile(workbench, { name: 'lab', kind: 'ssh', hosts: [{ host: '127.0.0.1', port: 9 }] });
  const asking = workbench.host.command('trainyard.runOnCluster', given('src/hello.py'));
  await pick(workbench, 'Where to run it?', 'lab');
  await pick(workbench, 'How to start hello.py?', 'Once for Each Slot');
  await answer(workbench, 'Arguments of hello.py', '');
  await asking;
  await says('127.0.0.1');
  await workbench.screenshot('run-file-error', 'dark', 1600);
  expect(workbench.runs()).toHaveLength(2);
});

/** On the profile practice, of a program that was started on the command line. */
async function opensItsPage(): Promise<void> {
  const stage = new Stage(workbench);
  const options = { env: { TRAINYARD_HOME: dirname(stage.profiles) }, cwd: workbench.folder };
  const words = ['--detach', '--name', 'serves', '--', 'python3', '-c', page];
  expectExit(await runCli(['run', 'practice', ...words], options), 0);
  await workbench.showViews();
  await workbench.host.command('trainyard.refresh');
  await clickMenu(workbench, stage.row('runs', 'serves'), 'Open Web Page');
  const toast = workbench.page.locator('.notification-toast', { hasText: 'leads to 127.0.0.2' });
  await toast.waitFor();
  expect(await toast.innerText()).not.toContain('token');
  await workbench.screenshot('web-page', 'dark', 1600);
  const opening = workbench.page.context().waitForEvent('page', { timeout: 60_000 });
  await toast.getByRole('button', { name: 'Open in Browser' }).click();
  const browser = await opening;
  await browser.getByText('the page of a run').waitFor({ timeout: 60_000 });
  await browser.close();
  expectExit(await runCli(['stop', 'serves', '--now'], options), 0);
}

test('on a cluster over SSH the folder of the workspace goes along', async () => {
  const cluster = await startNodes(join(workbench.folder, 'practice'), 1);
  try {
    const home = cluster.nodes[0]?.home ?? '';
    await addProfile(workbench, { ...cluster.profile, name: 'practice' });
    const connecting = workbench.host.command('trainyard.connect', { profile: 'practice' });
    await workbench.page.getByRole('button', { name: 'Trust and Connect' }).click();
    await connecting;
    const given = { scheme: 'file', fsPath: join(workbench.folder, 'workspace/src/hello.py') };
    const starting = workbench.host.command('trainyard.runOnCluster', given);
    await pick(workbench, 'Where to run it?', 'practice');
    await pick(workbench, 'How to start hello.py?', 'Once for Each Slot');
    await answer(workbench, 'Arguments of hello.py', '--far');
    await starting;
    await workbench.webview().getByText('finished').first().waitFor({ timeout: 60_000 });
    await workbench.webview().getByText("given ['--far']").first().waitFor();
    const [run = ''] = readdirSync(join(home, '.trainyard/runs'));
    expect(log(join(home, '.trainyard/runs', run))).toContain(
      `in ${join(home, '.trainyard/runs', run, 'code')}`,
    );
    expect(readFileSync(join(home, '.trainyard/runs', run, 'code/notes.txt'), 'utf8')).toBe('no program\n');

    await workbench.writeFile(join(workbench.folder, 'workspace/src/requirements.txt'), 'six\n');
    const project = '[project]\nname = "needs"\ndependencies = ["six"]\n';
    await workbench.writeFile(join(workbench.folder, 'workspace/src/pyproject.toml'), project);
    const needs = { scheme: 'file', fsPath: join(workbench.folder, 'workspace/src/needs.py') };
    const installing = workbench.host.command('trainyard.runOnCluster', needs);
    await pick(workbench, 'Where to run it?', 'practice');
    await pick(workbench, 'How to start needs.py?', 'Once for Each Slot');
    await answer(workbench, 'Arguments of needs.py', '');
    await workbench.page.getByText('Those of src/pyproject.toml').waitFor();
    await workbench.page.getByText('Those That the Nodes Have').waitFor();
    await workbench.screenshot('run-file-packages', 'dark', 1600);
    await pick(workbench, 'Which Python packages?', 'Those of src/requirements.txt');
    await installing;
    await workbench
      .webview()
      .getByText(/^has six 1\./)
      .first()
      .waitFor({ timeout: 60_000 });
    expect(readdirSync(join(home, '.trainyard/environments'))).toHaveLength(2);
    await opensItsPage();
  } finally {
    await cluster.stop();
  }
});

test('a sweep is asked for, goes on after a reload and a cancel, and its best starts a new run', async () => {
  const { page } = workbench;
  const before = workbench.startedRuns().length;
  const ask = async (start: string): Promise<void> => {
    await answer(workbench, 'Run Sweep on local', 'python3 src/score.py {x}');
    await answer(workbench, 'Settings and their values', 'x=1,2,3');
    await answer(workbench, 'Number of trials', '3');
    await answer(workbench, 'The figure that counts', 'loss');
    await answer(workbench, 'Stop poor trials', '1');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: start }).click();
  };
  void workbench.host.command('trainyard.runSweep', { profile: 'local' }).catch(() => undefined);
  await ask('This Window');
  const toast = page.locator('.notification-toast', { hasText: 'trial 2 (x=2) of 3' }).first();
  await toast.waitFor();
  await workbench.screenshot('sweep', 'dark', 1600);

  // The window ends, and the next one offers to go on.
  await workbench.reload();
  const ended = 'ended with its window: 1 of 3 trials are kept.';
  const offer = page.locator('.notification-toast', { hasText: ended });
  await offer.getByRole('button', { name: 'Go On' }).click();
  await toast.waitFor();
  await toast.getByRole('button', { name: 'Cancel' }).click();
  await workbench.writeFile(join(workbench.folder, 'workspace', 'go'), '');
  await workbench.webview().getByText('The sweep was ended before all trials were tried.').waitFor();
  await workbench.host.command('notifications.clearAll');

  const again = workbench.host.command('trainyard.runSweep', { profile: 'local' });
  await ask('The Nodes');
  const goOn = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Go On' });
  await goOn.waitFor();
  expect(await goOn.innerText()).toContain('1 of 3 trials are kept');
  await goOn.click();
  await again;
  expect(workbench.startedRuns()).toHaveLength(before + 3);
  await workbench.webview().getByText('Best: x=3 (trial 3), with loss 0.').waitFor();
  await workbench.webview().getByText('After 1, 3, 9 … steps only the best third').waitFor();
  await workbench.screenshot('sweep-report', 'light', 1000);
  await page.getByRole('button', { name: 'New Run with the Best' }).click();
  const line = workbench.webview().getByLabel('Command', { exact: true });
  await expect.poll(() => line.inputValue(), { timeout: 30_000 }).toBe('python3 src/score.py 3');
});

test('Attach Debugger of a run says which extension is missing', async () => {
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
  await workbench.showViews();
  const stage = new Stage(workbench);
  const options = { env: { TRAINYARD_HOME: dirname(stage.profiles) }, cwd: workbench.folder };
  await workbench.writeFile(join(workbench.folder, 'wait.py'), 'print(1)\n');
  const words = ['--debug', '0', '--detach', '--name', 'waits'];
  expectExit(await runCli(['run', 'local', ...words, '--', debugpyPython(), 'wait.py'], options), 0);
  await workbench.host.command('trainyard.refresh');
  await clickMenu(workbench, stage.row('runs', 'waits'), 'Attach Debugger');
  await workbench.page
    .locator('.notification-toast', { hasText: 'Python Debugger, which is not installed' })
    .getByRole('button', { name: 'Show Extension' })
    .waitFor();
  expectExit(await runCli(['stop', 'waits', '--now'], options), 0);
});
