// Hosts by aliases of an SSH configuration, which no node can resolve: they run by what stands
// behind the aliases.
import { lookup } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CheckResult } from '../../src/core/base/checks.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { startRun, stateOf, training, untilOver } from './support/runs.js';

const aliases = ['lab1.invalid', 'lab2.invalid'];
let hosts: FaultHosts;
let configFile: string;

beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
  configFile = join(hosts.trainyardHome, 'ssh_config');
  const lines = (hosts.profile.hosts ?? []).flatMap(({ host, port, user, identityFile }, index) => [
    `Host ${aliases[index] ?? ''}`,
    `  HostName ${host}`,
    `  Port ${port ?? 22}`,
    `  User ${user ?? ''}`,
    `  IdentityFile ${identityFile ?? ''}`,
  ]);
  writeFileSync(configFile, `${lines.join('\n')}\n`);
});
afterAll(() => hosts.stop());

function cluster(count: number, more: Partial<Profile> = {}): { profile: Profile; machine: SshMachine } {
  const own = aliases.slice(0, count).map((host) => ({ host, slots: 1 }));
  const profile = { ...hosts.profile, hosts: own, ...more };
  return { profile, machine: hosts.machine(profile, { configFile }) };
}

it('the aliases are known to nobody else', async () => {
  for (const alias of aliases) await expect(lookup(alias)).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
});

it.each([
  [1, 'ssh2', ['127.0.0.1']],
  [2, 'ssh2', ['127.0.0.2', '127.0.0.3']],
  [2, 'openssh', ['127.0.0.2', '127.0.0.3']],
] as const)(
  '%i hosts by %s run a training',
  async (count, transport, addresses) => {
    const { profile, machine } = cluster(count, { transport });
    const dir = await startRun(machine, profile, training(5));
    const { state } = await untilOver(machine, dir);
    expect(state?.reason ?? null).toBeNull();
    expect(state?.phase).toBe('finished');
    expect(stateOf(dir)?.nodes?.map(({ address }) => address)).toEqual(addresses);
  },
  180_000,
);

const told = (results: readonly CheckResult[], ...names: string[]): string[] =>
  results
    .filter(({ name }) => names.includes(name))
    .map(
      ({ host, ok, warning, detail }) => `${host ?? ''} ${!ok ? 'no' : warning ? 'warns' : 'ok'} ${detail}`,
    );

it.each([
  [1, ['lab1.invalid ok reaches itself at 127.0.0.1']],
  [
    2,
    [
      'lab1.invalid ok reaches itself at 127.0.0.2',
      'lab1.invalid ok reaches the other node',
      'lab2.invalid ok reaches the other node',
    ],
  ],
])('a check of %i hosts tries the addresses that a run takes', async (count, expected) => {
  const { profile, machine } = cluster(count);
  expect(told(await machine.check(profile), 'head address', 'ports')).toEqual(expected);
});

it('a check names an address that nodes cannot resolve', async () => {
  const [first, second] = aliases.map((host) => ({ host, slots: 1 }));
  const named = { ...first!, address: 'head.invalid' };
  const alone = cluster(1, { hosts: [named] });
  expect(told(await alone.machine.check(alone.profile), 'head address')).toEqual([
    expect.stringMatching(/^lab1\.invalid warns does not reach itself at head\.invalid, .*: ./),
  ]);
  const { profile, machine } = cluster(2, { hosts: [named, second!] });
  expect(told(await machine.check(profile), 'ports')).toEqual([
    'lab1.invalid ok reaches the other node',
    expect.stringMatching(/^lab2\.invalid no does not reach lab1\.invalid: ./),
  ]);
});

it('a node that cannot resolve the head says so, and the run fails at once with its words', async () => {
  const [first, second] = aliases.map((host) => ({ host, slots: 1 }));
  const { profile, machine } = cluster(2, { hosts: [{ ...first!, address: 'head.invalid' }, second!] });
  const begun = Date.now();
  const why = "lab2.invalid: it did not join: the head's address head.invalid is not known there";
  await expect(startRun(machine, profile, training(5))).rejects.toMatchObject({
    code: 'failed',
    what: why,
    hint: { kind: 'openPorts', host: 'lab1.invalid' },
  });
  const registry = await machine.registry(profile);
  const newest = (await registry.list())[0]!;
  const { state } = await untilOver(machine, newest.dir);
  expect(Date.now() - begun).toBeLessThan(40_000); // without a reason the wait alone is 60 s
  expect(state?.phase).toBe('failed');
  expect(state?.reason).toMatch(new RegExp(`^node ${why}\\. .*"address" of the host lab1\\.invalid$`));
  expect(state?.reason).not.toContain('startTimeout');
}, 120_000);
