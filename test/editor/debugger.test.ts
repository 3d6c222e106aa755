// Attach Debugger, where the extension for Python's debugger is missing: that is said, with a button.
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { debugpyPython } from '../support/debugpyPython.js';
import { expectExit, runCli } from '../support/harness.js';
import { Stage } from './menus/stage.js';
import { clickMenu } from './support/questions.js';
import { Workbench } from './support/workbench.js';

let workbench: Workbench;
let stage: Stage;
beforeAll(async () => {
  workbench = await Workbench.open();
  stage = new Stage(workbench);
  await workbench.host.ask('setting', { key: 'trainyard.openDashboardOnRun', value: false });
  await workbench.showViews();
});
afterAll(() => workbench.close());

test('Attach Debugger of a run says which extension is missing', async () => {
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
