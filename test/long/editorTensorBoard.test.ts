// TensorBoard that opens with a run covers nothing that somebody looks at, and takes no key.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '../editor/support/hostClient.js';
import { Workbench } from '../editor/support/workbench.js';

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
  await workbench.showViews();
  await workbench.host.ask('setting', { key: 'trainyard.openTensorBoardOnRun', value: true });
});
beforeEach(() => workbench.host.command('workbench.action.closeAllEditors'));
afterAll(() => workbench.close());

const training = 'train --model mlp --data synthetic --threads 1 --batch-size 8 --steps 20'.split(' ');
/** Resolves with the folder of the new run. */
async function start(): Promise<string> {
  await workbench.host.command('trainyard.runTraining', { profile: 'local', words: training, ranks: 1 });
  return workbench.runs().at(-1) ?? '';
}
/** Of the tab whose label begins so, once it is there. */
const tab = (label: string) =>
  until(`tab ${label}`, async () =>
    (await workbench.host.ask('tabs', {})).find((each) => each.label.startsWith(label)),
  );
const isServed = (dir: string): Promise<unknown> =>
  until('TensorBoard served', async () =>
    (await workbench.snapshot()).tensorboards.some((each) => each.dir === dir && each.state === 'serving')
      ? true
      : undefined,
  );
const open = (dir: string): Promise<unknown> =>
  workbench.host.command('trainyard.openTensorBoard', {
    ...{ profile: 'local', id: dir.split('/').at(-1), dir },
  });
const comesToTheFront = (): Promise<unknown> =>
  until('TensorBoard in front', async () => {
    const { active, focused } = await tab('TensorBoard');
    return active && focused ? true : undefined;
  });

test('it stands behind the dashboard of the run, until somebody opens it', async () => {
  const dir = await start();
  const board = await tab('TensorBoard');
  await isServed(dir);
  const dashboard = (await workbench.host.ask('tabs', {})).find(({ label }) => label.startsWith('mlp'));
  expect(dashboard).toMatchObject({ active: true, focused: true, column: board.column });
  expect(await tab('TensorBoard')).toMatchObject({ active: false });
  await workbench.screenshot('tensorboard-behind', 'dark', 1400);
  await open(dir);
  await comesToTheFront();
  expect(await workbench.host.ask('tabs', {})).toHaveLength(2);
});

test('without a dashboard it stands beside what somebody writes, and takes no key', async () => {
  const { page, host } = workbench;
  await host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
  await host.command('workbench.action.files.newUntitledFile');
  const text = page.locator('.editor-instance .view-lines');
  await text.click();
  await page.keyboard.type('before');
  const dir = await start();
  const board = await tab('TensorBoard');
  await isServed(dir);
  await page.keyboard.type(' and after');
  await until('all keys in the text', async () =>
    (await text.innerText()).replaceAll('\u00a0', ' ').includes('before and after') ? true : undefined,
  );
  const [written] = await host.ask('tabs', {});
  expect(written).toMatchObject({ active: true, focused: true });
  expect(board.column).not.toBe(written?.column);
  await workbench.screenshot('tensorboard-beside', 'light', 1400);
  await open(dir);
  await comesToTheFront();
});
