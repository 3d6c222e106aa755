// A sweep over two nodes: trials that are one process run on both at the same time.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sweep } from '../../src/core/sweep/record.js';
import { expectExit, runCli } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-sweep-'));
let hosts: FaultHosts;

beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
});
afterAll(async () => {
  await hosts.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('trials of one process are shared out among the nodes', async () => {
  const folder = join(dir, 'sweep');
  const { name, hosts: list = [] } = hosts.profile;
  // Each trial waits for another one, which only runs at the same time.
  const meet = `touch "$0/{x}"; until [ "$(ls "$0" | wc -l)" -ge 2 ]; do sleep 0.1; done`;
  const report = `echo '{"step": 1, "loss": {x}}' >> "$TRAINYARD_RUN_DIR/metrics.jsonl"`;
  const met = mkdtempSync(join(dir, 'met-'));
  const words = [
    '--name',
    'x',
    '--grid',
    'x=1,2',
    '--runs-at-once',
    '2',
    '--metric',
    'loss',
    '--out',
    folder,
  ];
  const swept = await runCli(['sweep', name, ...words, '--', 'sh', '-c', `${meet}; ${report}`, met], {
    env: { ...process.env, TRAINYARD_HOME: hosts.trainyardHome },
    cwd: dir,
  });
  expectExit(swept, 0);
  const { trials } = JSON.parse(readFileSync(join(folder, 'sweep.json'), 'utf8')) as Sweep;
  expect(trials.map(({ status, host }) => [status, host])).toEqual(
    list.map(({ host }) => ['finished', host]),
  );
  const logs = await runCli(['runs', name, '--tag', 'x', '--json'], {
    env: { ...process.env, TRAINYARD_HOME: hosts.trainyardHome },
  });
  expect(logs.stdout).toContain(list[1]?.host);
});
