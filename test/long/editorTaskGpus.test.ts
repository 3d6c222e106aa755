// A task's GPUs and code, with GPUs that are scripted: what it takes, what goes along, and the offer
// to wait for what is held.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/lib/paths.mjs';
import { until } from '../editor/support/hostClient.js';
import { Workbench } from '../editor/support/workbench.js';

const standIn = join(root, 'build/native/release/tests/agent/nvml');
const possible = existsSync(join(standIn, 'libnvidia-ml.so.1'));
const why = possible ? '' : ' (skipped: the stand-in for NVML is not built, npm run test:native builds it)';

const holding = `import os, time
print("GPUs", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
while not os.path.exists(os.environ["END"]): time.sleep(0.1)
`;
const task = (label: string, fields: object): object => ({
  label,
  type: 'trainyard',
  presentation: { panel: 'dedicated' },
  problemMatcher: [],
  ...fields,
});

describe.skipIf(!possible)(`tasks with GPUs and code${why}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ty-task-gpus-'));
  const endOf = (name: string): string => join(folder, name);
  const command = (name: string): string => `env END=${endOf(name)} python3 hold.py`;
  const tasks = [
    task('one', { command: command('one'), gpus: 1, code: '.' }),
    task('both', { command: command('both'), gpus: 2, code: '.' }),
    task('too many', { command: command('never'), gpus: 3, code: '.' }),
  ];
  let workbench: Workbench;

  beforeAll(async () => {
    writeFileSync(join(folder, 'nvml'), 'gpus 2\n');
    workbench = await Workbench.open(
      undefined,
      { '.vscode/tasks.json': JSON.stringify({ version: '2.0.0', tasks }), 'hold.py': holding },
      {
        LD_LIBRARY_PATH: standIn,
        NVML_STAND_IN: join(folder, 'nvml'),
        TRAINYARD_GPU_LOCKS: join(folder, 'locks'),
      },
    );
    await workbench.host.ask('setting', { key: 'terminal.integrated.gpuAcceleration', value: 'off' });
  });
  afterAll(async () => {
    for (const name of ['one', 'both', 'never']) writeFileSync(endOf(name), '');
    await workbench.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const runTask = (name: string): void => {
    void workbench.host.command('workbench.action.tasks.runTask', name).catch(() => undefined);
  };
  const log = (run: string): string | undefined => {
    const path = join(run, 'logs/rank-0.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  };
  const run = (count: number): Promise<string> =>
    until(
      `${count} runs`,
      () => (workbench.startedRuns().length === count ? workbench.runs().at(-1) : undefined),
      60,
    );
  const prints = (dir: string, words: string): Promise<true> =>
    until(words, () => (log(dir)?.includes(words) === true ? true : undefined), 60);

  test('a task takes as many GPUs as it says, and its code goes along', async () => {
    runTask('one');
    const dir = await run(1);
    await prints(dir, 'GPUs 0');
    const record = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as { gpus: number[] };
    expect(record.gpus).toEqual([0]);
    expect(readFileSync(join(dir, 'code/hold.py'), 'utf8')).toBe(holding);
  });

  test('GPUs that are held are offered to be waited for; the start gets its turn', async () => {
    runTask('both');
    const told = workbench.page.locator('.notification-toast', { hasText: '1 free of the 2 GPUs' });
    await told.getByRole('button', { name: 'Wait for GPUs' }).waitFor();
    await workbench.screenshot('task-wait', 'light', 1600);
    await told.getByRole('button', { name: 'Wait for GPUs' }).click();
    const text = (): Promise<string> =>
      workbench.page
        .locator('.terminal-wrapper.active .xterm-rows')
        .innerText()
        .then((rows) => rows.replaceAll('\u00a0', ' ').replaceAll('\n', ''));
    await until(
      'its place',
      async () => ((await text()).includes('1st in the queue') ? true : undefined),
      60,
    );
    await workbench.showViews();
    const inTree = async (): Promise<boolean> =>
      JSON.stringify((await workbench.snapshot()).clusters).includes('1st in the queue');
    await until('its row in the Clusters view', async () => ((await inTree()) ? true : undefined));
    for (const theme of ['dark', 'light'] as const) await workbench.screenshot('task-queue', theme, 1600);
    const dir = await run(2); // it waits by itself
    expect(workbench.state(dir).phase).toBe('queued');
    writeFileSync(endOf('one'), '');
    await prints(dir, 'GPUs 0,1');
    await until('no row in the Clusters view', async () => ((await inTree()) ? undefined : true));
    writeFileSync(endOf('both'), '');
    await until('its end', () => (workbench.state(dir).phase === 'finished' ? true : undefined), 60);
  });

  test('more GPUs than there are is no matter of waiting', async () => {
    runTask('too many');
    const told = workbench.page.locator('.notification-toast', { hasText: '2 GPUs, and 3 were asked for' });
    await told.waitFor();
    expect(await told.innerText()).toContain('Ask for 2 GPUs or fewer');
    expect(await told.getByRole('button', { name: 'Wait for GPUs' }).count()).toBe(0);
    expect(workbench.startedRuns()).toHaveLength(2);
  });
});
