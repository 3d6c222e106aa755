// Nodes whose C library is another one: a newer glibc takes part in a run, and one that is too old
// for our programs is refused by name, before anything is put there.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureNewerGlibc, ensureOlderSystem, whyNoOtherGlibc } from '../../../scripts/test/otherGlibc.mjs';
import { triplet } from '../../../scripts/lib/debPackages.mjs';
import type { CheckResult } from '../../../src/core/base/checks.js';
import { exitCodes } from '../../../src/core/base/errors.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { checkTable } from '../../../src/core/model/checkTable.js';
import { linkRuntime } from '../../cluster/support/hosts.js';
import { startRun, training, untilOver } from '../../cluster/support/runs.js';
import { runCli } from '../../support/harness.js';
import { NamespaceCluster, unavailable, type NamespaceHost } from '../../support/namespaces.js';
import { namespaceMachine, namespaceProfile } from '../support/namespaceMachine.js';
import { bundleDir } from '../support/cluster.js';

const names = ['head', 'alike', 'newer', 'older'] as const;
type Name = (typeof names)[number];

const libraries = `/usr/lib/${triplet}`;
/** Its libraries stand over those of this machine; all at once, since they are of one another. */
const overlay = (tree: string): string =>
  `mount -t overlay -o lowerdir=${join(tree, libraries)}:${libraries} overlay ${libraries}`;
/** Where sshd puts the logins of the older node: it demands a place that only root can change. */
const cage = '/mnt';
const caged = (tree: string): string =>
  [
    `mount -t tmpfs -o mode=755,size=200m tmpfs ${cage}`,
    `cp -a ${tree}/. ${cage}/`,
    `mkdir -p ${cage}/proc ${cage}/sys ${cage}/dev ${cage}/tmp "${cage}$1"`,
    `mount --bind "$1" "${cage}$1"`,
    ...['/proc', '/sys', '/dev'].map((place) => `mount --rbind ${place} ${cage}${place}`),
  ].join(' && ');

vi.setConfig({ testTimeout: 180_000 });

const missing = unavailable ?? whyNoOtherGlibc();
describe.skipIf(missing !== undefined)(`other C libraries (${missing ?? 'namespaces'})`, () => {
  let cluster: NamespaceCluster;
  let profile: Profile;
  const machines: SshMachine[] = [];
  const home = mkdtempSync(join(tmpdir(), 'trainyard-glibc-'));
  const hostOf = (name: Name): NamespaceHost => cluster.hosts[names.indexOf(name)]!;
  const address = (name: Name): string => hostOf(name).address;
  const machineOf = (of: Profile): SshMachine => {
    const machine = namespaceMachine(cluster, of, home);
    machines.push(machine);
    return machine;
  };
  const says = (name: Name, command: string): string => {
    const words = ['-F', cluster.sshConfig, address(name), command];
    return execFileSync('ssh', words, { encoding: 'utf8' }).trim();
  };

  beforeAll(async () => {
    cluster = await NamespaceCluster.start({
      hosts: names.length,
      mounts: [undefined, undefined, overlay(ensureNewerGlibc()), caged(ensureOlderSystem())],
      configs: names.map((name) => (name === 'older' ? [`ChrootDirectory ${cage}`] : undefined)),
    });
    for (const { home: at } of cluster.hosts) linkRuntime(join(at, '.trainyard'));
    profile = namespaceProfile(cluster, 'libraries');
    writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  }, 180_000);
  afterAll(async () => {
    for (const machine of machines) machine.dispose();
    await cluster.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it('are what the nodes themselves say, and our trainer finds no fitting glibc on the older one', () => {
    const own = execFileSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' }).trim();
    expect(own).not.toBe('glibc 2.39');
    expect(names.map((name) => says(name, 'getconf GNU_LIBC_VERSION'))).toEqual([
      ...[own, own],
      ...['glibc 2.39', 'glibc 2.27'],
    ]);
    copyFileSync(join(bundleDir, 'bin', 'trainer'), join(hostOf('older').home, 'trainer'));
    expect(says('older', 'ldd ~/trainer 2>&1')).toMatch(
      /version `GLIBC_2\.28' not found \(required by .*trainer\)/,
    );
  });

  it('are named by a check, the newer one as different, the older one as a failure with what to do', async () => {
    const results = await machineOf(profile).check(profile);
    const nodes = cluster.hosts.map(({ address }) => address);
    const row = checkTable(results, nodes).rows.find(({ name }) => name === 'glibc');
    const cells = row?.cells.map((cell) => [cell?.ok, cell?.differs, cell?.detail]);
    const own = says('head', 'getconf GNU_LIBC_VERSION').split(' ')[1];
    expect(cells).toEqual([
      [true, false, own],
      [true, false, own],
      [true, true, '2.39'],
      [false, false, 'glibc is 2.27, and our programs need 2.28 or newer'],
    ]);
    expect(row?.cells[3]?.hint).toBe(
      'glibc comes with the system: use a node with Debian 10, Ubuntu 20.04, RHEL 8 or newer, or leave this host out',
    );
    const failed = (result: CheckResult): boolean => !result.ok && result.name !== 'python';
    expect(results.filter(failed).map(({ host, name, detail }) => [host, name, detail])).toEqual([
      [address('older'), 'glibc', 'glibc is 2.27, and our programs need 2.28 or newer'],
    ]);
    const python = results.filter(({ ok, name }) => !ok && name === 'python');
    expect(python).toMatchObject([{ host: address('older'), detail: 'python3 is 3.6.5' }]);
    const systems = results.filter(({ name }) => name === 'OS').map(({ detail }) => detail);
    expect(systems[3]).toContain('Ubuntu');
  });

  it('refuse a start that would take the older one, which is left as it was', async () => {
    const env = { ...process.env, TRAINYARD_HOME: home };
    const { code, stderr } = await runCli(['run', 'libraries', '--', ...training(2)], { env });
    expect(code).toBe(exitCodes.preflight);
    expect(stderr).toContain(
      `${address('older')}: glibc: glibc is 2.27, and our programs need 2.28 or newer`,
    );
    expect(stderr).toContain('use a node with Debian 10');
    expect(existsSync(join(hostOf('older').home, '.trainyard', 'node'))).toBe(false);
  });

  it('train together where both are new enough', async () => {
    const pair = namespaceProfile(cluster, 'pair', [hostOf('head'), hostOf('newer')]);
    const machine = machineOf(pair);
    const dir = await startRun(machine, pair, training(5));
    expect((await untilOver(machine, dir)).state).toMatchObject({ phase: 'finished', world: 2 });
  });
});
