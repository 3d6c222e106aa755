// A checkpoint, and a file of a run, are brought from a node over either transport, also when the
// connection breaks on the way.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cancelled } from '../../../src/core/base/errors.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { downloadCheckpoint, folderName } from '../../../src/core/checkpoints/download.js';
import { downloadFiles } from '../../../src/core/checkpoints/downloadFiles.js';
import { trainerOn } from '../../../src/core/cluster/nodes/nodeProgram.js';
import { Questions } from '../../../src/core/cluster/nodes/retry.js';
import { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { OpensshTransport } from '../../../src/core/ssh/openssh/opensshTransport.js';
import { checkpointName, processesNaming, until } from '../../support/harness.js';
import { makeCheckpoint } from '../../support/madeCheckpoint.js';
import { bundleDir, testCluster, type TestCluster } from '../support/cluster.js';
import { ScriptedPrompter } from '../support/hosts.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-bring-'));
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await testCluster(join(dir, 'cluster'), { nodes: 1 });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

function machineBy(transport: 'ssh2' | 'openssh'): SshMachine {
  const { practice, machine, home } = cluster;
  if (transport === 'ssh2') return machine({ transport });
  const configFile = join(dir, 'ssh_config');
  writeFileSync(configFile, `UserKnownHostsFile ${practice.knownHosts}\nGlobalKnownHostsFile /dev/null\n`);
  const questions = new Questions(new ScriptedPrompter());
  const own = new OpensshTransport({ prompter: questions, configFile, home });
  return new SshMachine({ profile: practice.profile, transport: own, questions, bundleDir });
}

test.each(['ssh2', 'openssh'] as const)(
  'a checkpoint, and a file of the run, come whole by %s, although the agent is killed on the way',
  async (transport) => {
    const machine = machineBy(transport);
    const made = makeCheckpoint(join(cluster.practice.nodes[0]!.home, transport), 7, 24_000_000);
    const to = join(dir, `by-${transport}`);
    const { pid } = await machine.node.hello();
    let killed = false;
    const onProgress = (text: string): void => {
      if (killed || !text.includes(' of ')) return;
      killed = true;
      setTimeout(() => process.kill(pid, 'SIGKILL'), 60);
    };
    const got = await downloadCheckpoint(machine.node, nodePath(made), to, { onProgress });
    expect(got).toEqual({ path: join(to, checkpointName(7)), bytes: 24_001_013, kept: 0 });
    const name = folderName('20261121-104500-a b-1f2e', nodePath(made));
    expect(name).toBe(`a-b-1f2e-${checkpointName(7)}`);
    const beside = await downloadCheckpoint(machine.node, nodePath(made), to, { name });
    expect(beside.path).toBe(join(to, name));
    rmSync(beside.path, { recursive: true });
    expect(() => process.kill(pid, 0)).toThrow(); // it was, and another one went on
    expect(readdirSync(to)).toEqual([checkpointName(7)]);
    for (const name of readdirSync(made)) {
      expect(readFileSync(join(got.path, name)).equals(readFileSync(join(made, name))), name).toBe(true);
    }
    const run = nodePath(join(made, '../..'));
    const found = await machine.runFiles(run, `checkpoints/${checkpointName(7)}/model.safetensors`);
    const other = await (await machine.node.client()).request('hello');
    const files = await downloadFiles(machine.node, found, join(to, 'files'), {
      onProgress: (text) => {
        if (text.includes(': 0.0 of ')) setTimeout(() => process.kill(other.pid, 'SIGKILL'), 60);
      },
    });
    expect(files).toEqual({ path: join(to, 'files/model.safetensors'), bytes: 24_000_000, kept: 0 });
    expect(() => process.kill(other.pid, 0)).toThrow();
    expect(readFileSync(files.path).equals(readFileSync(join(made, 'model.safetensors')))).toBe(true);
    await expect(machine.runFiles(run, 'no.pt')).rejects.toThrow(
      /there is no no\.pt in .* has checkpoints\/\./,
    );
    await machine.removeFolder(nodePath(made));
    expect(readdirSync(join(made, '..'))).toEqual([]);
    machine.dispose();
  },
);

test('a program of the trainer is run to its end, and ends with the wish for it', async () => {
  const machine = cluster.machine();
  const [node] = machine.nodes;
  if (!node) throw new Error('no node');
  expect(await trainerOn(node, ['/bin/sh', '-c', 'echo said; echo more >&2'], {})).toContain('said\n');
  await expect(trainerOn(node, ['/bin/sh', '-c', 'echo trainer: error: no; exit 3'], {})).rejects.toThrow(
    'no',
  );
  const abort = new AbortController();
  const seconds = `9${process.pid}`;
  const waiting = trainerOn(node, ['sleep', seconds], { signal: abort.signal });
  await until('it to run', () => processesNaming(`sleep\0${seconds}`).length > 0);
  abort.abort();
  await expect(waiting).rejects.toThrow(Cancelled);
  await until('it to end', () => processesNaming(`sleep\0${seconds}`).length === 0, 20);
});
