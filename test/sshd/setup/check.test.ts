// A check of a cluster tells everything that is wrong, and not only the first host of which
// something is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CheckResult } from '../../../src/core/base/checks.js';
import { checkTable } from '../../../src/core/model/checkTable.js';
import { checkPorts } from '../../../src/core/cluster/check/portCheck.js';
import { withChannels } from '../../../src/core/cluster/nodes/nodeChannels.js';
import { expectExit, runCli } from '../../support/harness.js';
import { freePort } from '../support/hosts.js';
import { testCluster, type TestCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-check-'));
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await testCluster(dir, { nodes: 3 });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const failed = (results: readonly CheckResult[]): string[] =>
  results.filter(({ ok }) => !ok).map(({ host, name, detail }) => `${host ?? ''} ${name}: ${detail}`);

it('names every host that is not reached, and looks at the others without the head', async () => {
  const [first, second] = cluster.profile.hosts ?? [];
  if (!first || !second) throw new Error('the cluster has two nodes');
  const port = await freePort('127.0.0.9');
  const gone = { ...first, host: '127.0.0.9', port };
  const keyless = { ...first, identityFile: join(dir, 'no-such-key') };
  const machine = cluster.machine({ hosts: [gone, keyless, second] });
  const results = await machine.check(cluster.profile);
  expect(failed(results)).toEqual([
    `127.0.0.9 connection: 127.0.0.9 (port ${port}) refused the connection`,
    `${first.host} connection: the key file ${keyless.identityFile} of ${first.host} does not exist`,
  ]);
  expect(results.find(({ host, ok }) => host === first.host && !ok)?.hint).toEqual({
    kind: 'correctKeyFile',
    host: first.host,
  });
  const names = machine.nodes.map(({ name }) => name);
  const { rows } = checkTable(results, names);
  const glibc = rows.find(({ name }) => name === 'glibc');
  expect(glibc?.cells.map((cell) => cell?.ok)).toEqual([undefined, undefined, true]);
});

it('what the head says of its port does not differ from what the others reach', async () => {
  const machine = cluster.machine();
  const results = await withChannels(machine.nodes, (asked) => checkPorts(cluster.profile, asked));
  const { rows } = checkTable(
    results,
    machine.nodes.map(({ name }) => name),
  );
  expect(rows.map(({ name, cells }) => [name, cells.map((cell) => cell?.differs)])).toEqual([
    ['head port', [false, undefined, undefined]],
    ['head address', [false, undefined, undefined]],
    ['ports', [false, false, false]],
  ]);
});

it('a host that is not reached hides the figures of no other', async () => {
  const [first] = cluster.profile.hosts ?? [];
  if (!first) throw new Error('the cluster has nodes');
  const gone = { ...first, host: '127.0.0.9', port: await freePort('127.0.0.9') };
  const profiles = [{ ...cluster.profile, name: 'part', hosts: [first, gone] }];
  writeFileSync(join(cluster.home, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  const env = { ...process.env, TRAINYARD_HOME: cluster.home };
  const outcome = await runCli(['gpus', 'part'], { env });
  expectExit(outcome, 3);
  expect(outcome.stdout).toMatch(new RegExp(`^${first.host.replaceAll('.', '\\.')}  \\d+ cores?`, 'm'));
  expect(outcome.stderr).toContain('127.0.0.9');
  expect(outcome.stderr).toContain('refused the connection');
});

it('looks at the other nodes too where the head has what is wrong', async () => {
  const [first, second] = cluster.profile.hosts ?? [];
  if (!first || !second) throw new Error('the cluster has two nodes');
  const gone = { ...first, host: '127.0.0.9', port: await freePort('127.0.0.9') };
  const machine = cluster.machine({ hosts: [first, second, gone], workdir: '/proc/trainyard' });
  const results = await machine.check({ ...cluster.profile, workdir: '/proc/trainyard' });
  const bad = results.filter(({ ok }) => !ok).map(({ host, name }) => [host, name]);
  expect(bad).toEqual([
    ['127.0.0.9', 'connection'],
    [first.host, 'workdir'],
    [second.host, 'workdir'],
  ]);
});
