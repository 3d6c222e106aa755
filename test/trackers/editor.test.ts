// Export Run… of the editor, to a real MLflow behind a door that asks for a token: the values and
// the checkpoint are there, and the token is kept in the editor's secret storage alone.
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mlflowPython } from '../../scripts/test/trackers.mjs';
import { until } from '../editor/support/hostClient.js';
import { answer, clickMenu, pick } from '../editor/support/questions.js';
import { Workbench } from '../editor/support/workbench.js';
import { run } from '../support/harness.js';
import { curvesOf } from './curves.js';
import { MlflowServer } from './mlflowServer.js';
import { idOf } from './runs.js';

const found = mlflowPython();
const missing = 'missing' in found ? found.missing : '';
const bin = 'bin' in found ? found.bin : '';
const token = 'hush-4711-0815';
const words = 'train --model mlp --data synthetic --steps 40 --log-every 10 --checkpoint-every 20'.split(' ');

let workbench: Workbench;
let server: MlflowServer;
let door: Server;
let address = '';
let dir = '';

/** Lets through who has the token. */
function makeDoor(to: string): Server {
  return createServer((asked, reply) => {
    if (asked.headers.authorization !== `Bearer ${token}`) {
      reply.writeHead(401).end('who is there?');
      return;
    }
    const { method, headers, url = '/' } = asked;
    const passed = request(new URL(url, to), { method, headers }, (answered) => {
      reply.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(reply);
    });
    passed.on('error', (error) => reply.writeHead(502).end(String(error)));
    asked.pipe(passed);
  });
}

describe.skipIf(missing !== '')(`with MLflow${missing === '' ? '' : `: ${missing}`}`, () => {
  beforeAll(async () => {
    workbench = await Workbench.open();
    server = await MlflowServer.start(bin, workbench.folder);
    door = makeDoor(server.uri);
    await new Promise<void>((done) => door.listen(0, '127.0.0.1', done));
    address = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    await workbench.showViews();
    await workbench.host.command('trainyard.runTraining', { words, ranks: 2 });
    dir = workbench.runs().at(-1) ?? '';
    await until('run finished', () => (workbench.state(dir).phase === 'finished' ? true : undefined), 60);
  });
  afterAll(async () => {
    server.stop();
    door.close();
    door.closeAllConnections();
    await workbench.close();
  });

  const exportIt = async (checkpoints: string): Promise<void> => {
    const { page } = workbench;
    const row = page.locator('.sidebar .monaco-list-row', { hasText: /mlp-.*finished/ }).first();
    await clickMenu(workbench, row, 'Export Run…');
    await pick(workbench, 'Where to?', 'MLflow');
    await answer(workbench, 'Address of the MLflow server', address);
    await answer(workbench, 'Experiment of MLflow', 'trainyard');
    await pick(workbench, 'Checkpoints as artifacts?', checkpoints);
  };
  const hasDone = async (text: string): Promise<void> => {
    await workbench.page.locator('.notification-toast', { hasText: text }).first().waitFor();
    await workbench.host.command('notifications.clearAll');
  };

  it('asks for the token once, and brings values and checkpoint', async () => {
    await exportIt('Newest checkpoint');
    await answer(workbench, 'User name', '');
    await answer(workbench, 'Token', token);
    await hasDone('values and 1 checkpoint');
    await exportIt('No checkpoints'); // the token is kept
    await hasDone('values');
    const runs = await server.runs(idOf(dir));
    expect(runs).toHaveLength(1);
    const metrics = Object.entries(runs[0]?.metrics ?? {}).map(([name, values]) => [
      name,
      [...values].sort(([a], [b]) => a - b),
    ]);
    expect(Object.fromEntries(metrics)).toEqual(curvesOf(dir));
    expect(runs[0]?.artifacts).toContain('checkpoints/step-00000040/model.safetensors');
    const kept = await run('grep', ['-rlF', token, join(workbench.folder)]);
    expect(kept.stdout).toBe('');
  });

  it('opens the run in the browser', async () => {
    const { page } = workbench;
    const [there] = await server.runs(idOf(dir));
    await exportIt('No checkpoints');
    const opening = page.context().waitForEvent('page', { timeout: 60_000 });
    await page.getByRole('button', { name: 'Open in Browser' }).click();
    const dialog = page.locator('.monaco-dialog-box').getByRole('button', { name: 'Open', exact: true });
    void dialog.click({ timeout: 5000 }).catch(() => undefined); // where the editor asks first
    const browser = await opening;
    await browser.waitForURL((url) => url.href !== 'about:blank');
    expect(new URL(browser.url()).hash).toMatch(new RegExp(`^#/experiments/\\d+/runs/${there?.id ?? ''}$`));
    await browser.close();
  });
});
