// A check of nodes that were made different on purpose. It names each difference on the node that
// has it, and on no other.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureFaketime } from '../../scripts/test/faketime.mjs';
import type { CheckResult } from '../../src/core/base/checks.js';
import { exitCodes } from '../../src/core/base/errors.js';
import { nodePath } from '../../src/core/base/nodePath.js';
import { fixesOf } from '../../src/core/check/fixes.js';
import { applyFixes } from '../../src/core/cluster/nodes/fixNodes.js';
import { checkAllReduce } from '../../src/core/measure/deepCheck.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { checkTable } from '../../src/core/model/checkTable.js';
import { linkRuntime } from '../cluster/support/hosts.js';
import { parseLines, runCli, until } from '../support/harness.js';
import { NamespaceCluster, pidsIn, unavailable, type NamespaceHost } from '../support/namespaces.js';
import { namespaceMachine, namespaceProfile } from '../sshd/support/namespaceMachine.js';

/**
 * Lets the trainer of a node run for moments only, as where a CPU is held down: after each it is
 * stopped for 12 times as long as it computed, or 0.25 s. Counted is its own time, since a busy
 * machine may draw a moment out. The cores of all nodes here are the same ones, so only a process
 * can be slow, and the others take cores from one another. Where their rates are far apart, only
 * one below a quarter of the median is named.
 */
function holdDown(namespace: string): ChildProcess {
  const loop = `
    ticks() { local f; read -r -a f < /proc/$1/stat || return 1; echo $((f[13] + f[14])); }
    trap 'kill -CONT $pid; exit' TERM
    while :; do
      for pid in $(ip netns pids ${namespace}); do
        [ "$(cat /proc/$pid/comm)" = trainer ] || continue
        kill -STOP $pid && before=$(ticks $pid) || continue
        kill -CONT $pid; sleep 0.02; kill -STOP $pid
        after=$(ticks $pid) || continue
        hundredths=$(((after - before) * 12))
        [ $hundredths -ge 25 ] || hundredths=25
        sleep $((hundredths / 100)).$(printf %02d $((hundredths % 100)))
      done
      sleep 0.02
    done`;
  return spawn('bash', ['-c', loop], { stdio: 'ignore' });
}

/** Else ranks of one machine would talk through its memory, and past the shaped link. */
const byNetwork = { MPIR_CVAR_NOLOCAL: '1', MPIR_CVAR_CH4_SHM_ENABLE: '0', MPIR_CVAR_CH4_NETMOD: 'ofi' };

/** Two slots each: the sums have one rank on a node however many it has. */
const twice = (hosts: Profile['hosts']): Profile['hosts'] => hosts?.map((host) => ({ ...host, slots: 2 }));

const names = ['head', 'clock', 'mtu', 'shm', 'inodes', 'full-size'] as const;
type Name = (typeof names)[number];

vi.setConfig({ testTimeout: 180_000 });

describe.skipIf(unavailable !== undefined)(`unlike nodes (${unavailable ?? 'namespaces'})`, () => {
  let cluster: NamespaceCluster;
  let machine: SshMachine;
  let profile: Profile;
  /** What the first check found. */
  let unlike: readonly CheckResult[] = [];
  const trainyardHome = mkdtempSync(join(tmpdir(), 'trainyard-unlike-'));
  const hostOf = (name: Name): NamespaceHost => cluster.hosts[names.indexOf(name)]!;
  const address = (name: Name): string => hostOf(name).address;
  const inside = (name: Name, ...words: string[]): void => {
    execFileSync('ip', ['netns', 'exec', hostOf(name).namespace, ...words]);
  };
  const shape = (rate: string): void => {
    const shaped = ['rate', rate, 'burst', '32kbit', 'latency', '400ms'];
    inside('mtu', 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', ...shaped);
  };
  const unshape = (): void => {
    inside('mtu', 'tc', 'qdisc', 'del', 'dev', 'eth0', 'root');
  };

  beforeAll(async () => {
    cluster = await NamespaceCluster.start({
      hosts: names.length,
      environments: names.map((name) =>
        name === 'clock'
          ? { LD_PRELOAD: ensureFaketime(), FAKETIME: '+90s', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
          : undefined,
      ),
      mounts: names.map((name) => {
        if (name === 'shm') return 'mount -t tmpfs -o size=16m tmpfs /dev/shm';
        const inodes = 'size=900m,nr_inodes=3000,mode=700';
        return name === 'inodes'
          ? `mkdir -p "$1/.trainyard" && mount -t tmpfs -o ${inodes} tmpfs "$1/.trainyard"`
          : undefined;
      }),
    });
    for (const { home } of cluster.hosts) {
      if (home !== hostOf('inodes').home) linkRuntime(join(home, '.trainyard'));
    }
    profile = namespaceProfile(cluster, 'unlike');
    machine = namespaceMachine(cluster, profile, trainyardHome);
    // Before there are connections: one that agreed on larger packets would lose some of them.
    inside('mtu', 'ip', 'link', 'set', 'eth0', 'mtu', '1400');
    await machine.connectAll();
  });
  afterAll(async () => {
    machine.dispose();
    await cluster.stop();
    rmSync(trainyardHome, { recursive: true, force: true });
  });

  const named = (results: readonly CheckResult[], tells: (result: CheckResult) => boolean): string[] =>
    results.filter(tells).map(({ host = '', name, detail }) => {
      const at = cluster.hosts.findIndex((each) => each.address === host);
      return `${names[at] ?? host} ${name}: ${detail.replaceAll(/198\.18\.\d+\./g, '')}`;
    });
  const failures = (results: readonly CheckResult[]): string[] => named(results, ({ ok }) => !ok);

  it('are told apart, each difference at its node alone', async () => {
    inside('mtu', 'ip', 'route', 'add', 'unreachable', `${address('shm')}/32`);
    // What is longer than the bucket is dropped, as where a switch has a smaller MTU than its
    // hosts.
    const bucket = ['rate', '100mbit', 'burst', '1200', 'limit', '200000'];
    inside('full-size', 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', ...bucket);
    const started = performance.now();
    const results = await machine.check(profile);
    unlike = results;
    const seconds = (performance.now() - started) / 1000;
    process.stdout.write(`check of ${names.length} unlike nodes: ${seconds.toFixed(1)} s\n`);
    expect(failures(results).sort()).toEqual([
      expect.stringMatching(
        /^full-size ports: small packets pass, and full-size packets to 10, 11 and 3 more are lost$/,
      ),
      expect.stringMatching(/^inodes inodes: 2\d{3} inodes free, 10000 are needed in /),
      'mtu ports: does not reach 13: No route to host',
      expect.stringMatching(/^shm ports: does not reach 12: /),
    ]);
    expect(named(results, ({ warning }) => warning === true).sort()).toEqual([
      'clock clock: 90.0 s ahead of most nodes',
      'mtu MTU: 1400, most have 1500',
      'shm shared memory: 17 MB in /dev/shm',
    ]);
    const { rows } = checkTable(
      results,
      machine.nodes.map(({ name }) => name),
    );
    const differing = rows.flatMap(({ name, cells }) =>
      cells.flatMap((cell, at) => (cell?.differs === true ? [`${names[at] ?? ''} ${name}`] : [])),
    );
    expect(differing).toEqual(['inodes file system']);
  });

  it('reach one another again once the network is mended, the MTU and the shared memory by fixes', async () => {
    inside('mtu', 'ip', 'route', 'del', 'unreachable', `${address('shm')}/32`);
    inside('full-size', 'tc', 'qdisc', 'del', 'dev', 'eth0', 'root');
    // The clock's fix is left out: this machine has one clock for all nodes.
    expect(fixesOf(unlike).map(({ row }) => row)).toEqual(['MTU', 'shared memory', 'clock']);
    const shm = fixesOf(unlike).filter(({ row }) => row === 'shared memory');
    const fixed = await applyFixes(machine.nodes, shm);
    expect(fixed).toMatchObject([{ row: 'shared memory', host: address('shm'), code: 0, said: '' }]);
    writeFileSync(join(trainyardHome, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
    const command = ['check', 'unlike', '--fix', 'MTU', '--json'];
    const env = { ...process.env, TRAINYARD_HOME: trainyardHome };
    const unasked = await runCli(command, { env });
    expect(unasked.code).toBe(exitCodes.usage);
    expect(unasked.stderr).toContain('there is no terminal to ask on. Say that it may be done without');
    const { code, stdout } = await runCli([...command, '--yes'], { env });
    expect(code).toBe(exitCodes.preflight); // inodes lack
    const lines = parseLines(stdout);
    expect(lines[0]).toMatchObject({ type: 'fix', row: 'MTU', host: address('mtu'), code: 0 });
    expect(lines.filter(({ name }) => name === 'MTU').map(({ detail }) => detail)).toEqual(
      names.map(() => '1500'),
    );
    const results = await machine.check(profile);
    expect(failures(results)).toEqual([expect.stringMatching(/^inodes inodes/)]);
    expect(named(results, ({ warning }) => warning === true)).toEqual([
      expect.stringMatching(/^clock clock/),
    ]);
    expect(results.filter(({ name }) => name === 'ports').map(({ detail }) => detail)).toEqual(
      names.map(() => 'reaches all 5 others'),
    );
  });

  it('a deep check names the node with a slow link, and that with a slow CPU, and no other', async () => {
    const data = join(trainyardHome, 'data'); // all nodes see this disk
    mkdirSync(data);
    writeFileSync(join(data, 'images'), randomBytes(20e6));
    const heldDown = holdDown(hostOf('clock').namespace);
    shape('20mbit');
    const results = await machine.check(profile, {}, { deep: true, data: nodePath(data) }).finally(() => {
      heldDown.kill();
      unshape();
    });
    const links = results.filter(({ name }) => name === 'link');
    expect(named(links, ({ warning }) => warning === true)).toEqual([
      expect.stringMatching(
        /^mtu link: sends (1[5-9]|2\d) Mbit\/s, receives [\d.]+ [GM]bit\/s: most send [\d.]+ [GM]bit\/s$/,
      ),
    ]);
    expect(links).toHaveLength(names.length - 1); // without the one that has no inodes
    const products = named(results, ({ name }) => name === 'matmul');
    process.stdout.write(`${products.join('\n')}\n`);
    expect(products).toHaveLength(names.length - 1);
    for (const product of products) expect(product).toMatch(/ matmul: CPU \d+(\.\d)? [GT]FLOP\/s/);
    expect(named(results, ({ name, warning }) => name === 'matmul' && warning === true)).toEqual([
      expect.stringMatching(/^clock matmul: CPU .* is slow: most have \d+ GFLOP\/s$/),
    ]);
    const reads = results.filter(({ name }) => name === 'read rate');
    expect(reads.map(({ detail }) => detail)).toEqual(
      products.map((): unknown => expect.stringMatching(/^\d+(\.\d)? [MG]B\/s by one reader, 1 file/)),
    );
  });

  it('a deep check sums over all nodes and over pairs, and names the node with a slow link', async () => {
    shape('100mbit');
    const started = performance.now();
    const fit = cluster.hosts.filter((host) => host !== hostOf('inodes'));
    const summing = { ...namespaceProfile(cluster, 'summing', fit), env: byNetwork };
    const able = namespaceMachine(cluster, { ...summing, hosts: twice(summing.hosts) }, trainyardHome);
    const results = await checkAllReduce(able, summing, []).finally(unshape);
    expect(await (await able.registry(summing)).list()).toEqual([]); // its run is gone
    able.dispose();
    process.stdout.write(`all-reduce: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
    for (const { host = '', detail } of results) process.stdout.write(`all-reduce ${host}: ${detail}\n`);
    expect(results.every(({ ok }) => ok)).toBe(true);
    const whole = results.filter(({ host }) => host === undefined);
    expect(whole.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      expect.stringMatching(
        /^all-reduce: 0\.0\d+ GB\/s of bus bandwidth over 5 nodes by MPI, 4\.2 MB at once$/,
      ),
    ]);
    const pairs = results.filter(({ name }) => name === 'all-reduce by pairs');
    expect(pairs).toHaveLength(names.length - 1); // without the one that has no inodes
    expect(named(pairs, ({ warning }) => warning === true)).toEqual([
      expect.stringMatching(/^mtu all-reduce by pairs: 0\.0\d+ GB\/s .*: most have [\d.]+ GB\/s$/),
    ]);
    const lacking = await checkAllReduce(machine, profile, unlike);
    expect(lacking.map(({ detail }) => detail)).toEqual(['not measured, since a check failed']);
  });

  it('have nothing left on them but sshd', async () => {
    machine.dispose();
    const left = (): string[] =>
      names.filter((name) => pidsIn(hostOf(name).namespace).some((pid) => pid !== hostOf(name).sshd.pid));
    await until('nothing but sshd on the nodes', () => left().length === 0, 10);
  });
});
