// What a run over several nodes listens on: nothing of its launch, and beyond this machine only
// ports of the profile's range.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { portsOf } from '../../src/core/contracts/ports.js';
import { processesNaming, until } from '../support/harness.js';
import { practiceHosts, type FaultHosts } from './support/hosts.js';
import { endless, startRun, training, untilOver, untilStep } from './support/runs.js';

let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
});
afterAll(() => hosts.stop());

interface Listener {
  program: string;
  address: string;
  port: number;
  inode: string;
}

/** Sockets that listen for TCP by their inodes; addresses as the kernel writes them. */
function listening(): Map<string, { address: string; port: number }> {
  const found = new Map<string, { address: string; port: number }>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of readFileSync(table, 'utf8').trim().split('\n').slice(1)) {
      const words = line.trim().split(/\s+/);
      const [address = '', port = ''] = words[1]?.split(':') ?? [];
      if (words[3] === '0A') found.set(words[9]!, { address, port: parseInt(port, 16) });
    }
  }
  return found;
}

/** Of every process of this run, by the run's name in its words or environment. */
function listenersOf(id: string): Listener[] {
  const all = listening();
  return processesNaming(id).flatMap((line) => {
    const [pid = '', program = ''] = line.split(' ');
    try {
      return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? '';
        const place = all.get(inode);
        return place ? [{ program: program.split('/').at(-1)!, inode, ...place }] : [];
      });
    } catch {
      return []; // gone meanwhile
    }
  });
}

const own = '0100007F'; // 127.0.0.1

test('mpiexec and its proxies listen nowhere, and ranks and agents within portRange', async () => {
  const machine = hosts.machine();
  const dir = await startRun(machine, hosts.profile, training(endless));
  const id = dir.split('/').at(-1)!;
  await untilStep(dir, 2);
  const programs = processesNaming(id).map((line) => line.split(' ')[1]!.split('/').at(-1)!);
  expect(programs).toContain('mpiexec');
  expect(programs.filter((name) => name === 'hydra_pmi_proxy')).toHaveLength(2);
  const found = listenersOf(id);
  expect(found.filter(({ program }) => /mpiexec|hydra/.test(program))).toEqual([]);
  const [first, last] = portsOf(hosts.profile);
  const beyond = found.filter(({ address }) => address !== own);
  expect(beyond.length).toBeGreaterThan(0); // where the nodes join
  expect(beyond.filter(({ port }) => port < first || port > last)).toEqual([]);

  await (await machine.node.client()).request('run.stop', { dir, mode: 'now', by: 'test' });
  await untilOver(machine, dir);
  await until('no port of the run to be open', () => !found.some(({ inode }) => listening().has(inode)), 20);
});
