// First start on a shared home: nodes that see one disk, none of which has anything of ours yet,
// asked by two clients at once.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { practiceHosts } from './support/hosts.js';
import { startRun, training, untilOver } from './support/runs.js';
import { sharedHome, unavailable, type SharedHome } from './support/sharedHome.js';

const nodes = 4;

describe.skipIf(unavailable)(`first start on a shared home${unavailable ? ` (${unavailable})` : ''}`, () => {
  let shared: SharedHome;
  beforeAll(async () => {
    await (await practiceHosts({ nodes: 1 })).stop(); // the runtime, which is linked to, is there now
    shared = await sharedHome(nodes);
  });
  afterAll(async () => {
    await shared.hosts.stop();
  });

  test('all nodes come up for two clients with different heads, one copy is made, nothing is left half', async () => {
    const { hosts, home, links } = shared;
    const folder = join(home, '.trainyard', 'node');
    for (const link of links) link.faults = { bytesPerSecond: 1_500_000 };
    const copies = new Set<string>();
    const said: string[] = [];
    const looking = setInterval(() => {
      const names = existsSync(folder) ? readdirSync(folder) : [];
      for (const name of names) if (name.includes('.partial-')) copies.add(name);
    }, 10);
    const onProgress = (text: string): void => {
      said.push(text);
    };
    const machines = [1, nodes].map((head) => hosts.machine({ head: `127.0.0.${head + 1}` }));
    const answers = await Promise.all(
      machines.flatMap((machine) => machine.nodes.map((node) => node.hello({ onProgress }))),
    ).finally(() => {
      clearInterval(looking);
    });
    expect(new Set(answers.map(({ host }) => host))).toEqual(new Set(['gpu1', 'gpu2', 'gpu3', 'gpu4']));
    expect([...copies]).toHaveLength(1);
    expect(said.filter((text) => text.includes('uploading'))).toHaveLength(1);
    expect(said.join('\n')).toMatch(/: waiting for gpu\d to put the programs there/);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
    expect(readdirSync(join(home, '.trainyard')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('a run over all of them finishes', async () => {
    const { hosts } = shared;
    for (const link of shared.links) link.faults = {};
    const machine = hosts.machine();
    const dir = await startRun(machine, hosts.profile, training(4));
    expect((await untilOver(machine, dir, 150)).state?.phase).toBe('finished');
  });
});
