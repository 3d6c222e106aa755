// An export that cannot begin: no server, a login that is refused. The login is in no output and no
// file.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../../../scripts/lib/freePort.mjs';
import { expectExit, run, runCli, temporaryFolder, type Outcome } from '../../support/harness.js';

const folder = temporaryFolder('export');
const home = { TRAINYARD_HOME: join(folder.path, 'home') };
const cli = (words: string[], env: Record<string, string> = {}): Promise<Outcome> =>
  runCli(words, { env: { ...home, ...env } });
afterAll(() => {
  folder.remove();
});

it('no server, and a login that is refused; the password stands in no output', async () => {
  const dir = join(folder.path, 'alone');
  const training = ['--model', 'mlp', '--data', 'synthetic', '--steps', '5'];
  expectExit(await cli(['run', 'local', '--run-dir', dir, '--', 'train', ...training]), 0);
  const nobody = await cli([
    'export',
    dir,
    '--to',
    'mlflow',
    '--uri',
    `http://127.0.0.1:${await freePort()}`,
  ]);
  expectExit(nobody, 3);
  expect(nobody.stderr).toContain('ECONNREFUSED');
  const heard: IncomingHttpHeaders[] = [];
  const closed = createServer((request, answer) => {
    heard.push(request.headers);
    answer.writeHead(401).end('no');
  });
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  const words = [
    'export',
    dir,
    '--to',
    'mlflow',
    '--uri',
    `http://127.0.0.1:${(closed.address() as AddressInfo).port}`,
  ];
  const secret = 'hush-4711';
  const refused = await cli(words, { MLFLOW_TRACKING_TOKEN: secret, TRAINYARD_LOG: 'debug' });
  closed.close();
  expectExit(refused, 4);
  expect(refused.stderr).toContain('HTTP 401');
  expect(heard[0]?.authorization).toBe(`Bearer ${secret}`);
  expect(refused.stdout + refused.stderr).not.toContain(secret);
  const kept = await run('grep', ['-r', secret, folder.path]);
  expect(kept.code).toBe(1);
  const inAddress = await cli(['export', dir, '--to', 'mlflow', '--uri', `http://ada:${secret}@127.0.0.1`]);
  expectExit(inAddress, 2);
  expect(inAddress.stderr).not.toContain(secret);
});

it('for W&B: flags of the other tracker, and a folder that is missing', async () => {
  const wandb = (...more: string[]): Promise<Outcome> => cli(['export', 'last', '--to', 'wandb', ...more]);
  const asMlflow = await wandb('--uri', 'http://127.0.0.1');
  expectExit(asMlflow, 2);
  expect(asMlflow.stderr).toContain('--uri does not go with --to wandb. Name a folder with --dir');
  const taken = await wandb('--checkpoints', 'last');
  expectExit(taken, 2);
  expect(taken.stderr).toContain('wandb artifact put');
  const dir = join(folder.path, 'alone');
  const nowhere = await cli(['export', dir, '--to', 'wandb', '--dir', join(folder.path, 'missing')]);
  expectExit(nowhere, 2);
  expect(nowhere.stderr).toContain('there is no folder');
});
