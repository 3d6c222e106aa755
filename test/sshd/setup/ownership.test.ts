// Folders on a node that another user made, or may write in: nothing is run from them, and the
// error names the folder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as z from 'zod/mini';
import { errorWords } from '../../../src/cli/remedies.js';
import { UserError } from '../../../src/core/base/errors.js';
import { foundSchema } from '../../../src/core/setup/cuda.js';
import { bundleDir, testCluster, type TestCluster } from '../support/cluster.js';

const stranger = 64102;
const isRoot = process.getuid?.() === 0;
const why = isRoot ? 'root' : 'it needs root, to give a folder to another user';
const dir = mkdtempSync(join(tmpdir(), 'trainyard-owner-'));
let cluster: TestCluster;
/** Where a library of NVIDIA's would stand on the node. */
const nccl = join(dir, 'nccl');
beforeAll(async () => {
  const environments = [{ PATH: process.env['PATH'] ?? '', TRAINYARD_NVIDIA_LIBRARIES: nccl }];
  cluster = await testCluster(dir, { nodes: 1, environments });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

let count = 0;
/** A new folder, and in it one to be the workdir. */
function place(): { parent: string; workdir: string } {
  const parent = join(dir, `place-${++count}`);
  const workdir = join(parent, 'ty');
  mkdirSync(workdir, { recursive: true, mode: 0o700 });
  return { parent, workdir };
}

/** What the user reads who wants an agent below this workdir. */
async function refusal(workdir: string): Promise<string> {
  const machine = cluster.machine({ workdir });
  try {
    await machine.node.hello();
  } catch (error) {
    if (error instanceof UserError) return `${error.code}: ${errorWords(error)}`;
    throw error;
  } finally {
    machine.dispose();
  }
  return 'none';
}

it('a workdir that everybody may write in is refused, and one below such a folder unless that is sticky', async () => {
  const { parent, workdir } = place();
  chmodSync(workdir, 0o777);
  expect(await refusal(workdir)).toMatch(
    new RegExp(`^preflight: .*${workdir} may be written by everybody.*chmod go-w ${workdir}.*"workdir"`),
  );
  chmodSync(workdir, 0o1777);
  expect(await refusal(workdir)).toContain(`${workdir} may be written by everybody`);
  chmodSync(workdir, 0o755);
  chmodSync(parent, 0o777);
  expect(await refusal(workdir)).toMatch(
    new RegExp(`${parent} may be written by everybody.*chmod \\+t ${parent}`),
  );
  chmodSync(parent, 0o1777);
  expect(await refusal(workdir)).toBe('none');
});

it("a library of NVIDIA's that everybody could change is not loaded, not even to ask for its version", async () => {
  const ran = join(dir, 'loaded');
  mkdirSync(nccl, { mode: 0o755 });
  const library = join(nccl, 'libnccl.so.2');
  execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-', '-o', library], {
    input: `#include <stdio.h>
__attribute__((constructor)) static void tell(void) { fclose(fopen("${ran}", "w")); }
int ncclGetVersion(int *version) { *version = 22807; return 0; }`,
  });
  const machine = cluster.machine();
  const look = (): Promise<z.output<typeof foundSchema>> =>
    machine.nodes[0]!.withBootstrap((channel) => channel.request('cuda-look', { release: 13 }, foundSchema));
  const own = 'nvidia-nccl-cu13';
  for (const [path, mode] of [
    [nccl, 0o777],
    [library, 0o666],
  ] as const) {
    const before = statSync(path).mode & 0o777;
    chmodSync(path, mode);
    const { found, left } = await look();
    expect(found.filter(({ folder }) => folder === nccl)).toEqual([]);
    expect(left).toContainEqual({
      package: own,
      why: expect.stringContaining(`${path} may be written by everybody`) as string,
    });
    expect(existsSync(ran)).toBe(false);
    chmodSync(path, before);
  }
  const { found, left } = await look();
  expect(found).toContainEqual({ package: own, folder: nccl, version: [2, 28, 7], cuda: 13 });
  expect(left.filter(({ why: reason }) => reason.includes(nccl))).toEqual([]);
  expect(existsSync(ran)).toBe(true);
  machine.dispose();
});

describe.skipIf(!isRoot)(`what is another user's (${why})`, () => {
  it('as a workdir is refused by name, before anything is put into it', async () => {
    const { workdir } = place();
    chownSync(workdir, stranger, stranger);
    expect(await refusal(workdir)).toMatch(
      new RegExp(`^preflight: .*${workdir} belongs to user ${stranger}, not to you`),
    );
  });

  it('as a group that may write is refused, in the workdir and in a folder above it; the own private group is not', async () => {
    const { parent, workdir } = place();
    chmodSync(workdir, 0o770);
    expect(await refusal(workdir)).toBe('none'); // the group `root`, which is root's alone
    chownSync(workdir, 0, stranger);
    expect(await refusal(workdir)).toContain(`${workdir} may be written by its group`);
    chmodSync(workdir, 0o750);
    chownSync(parent, 0, stranger);
    chmodSync(parent, 0o2770);
    expect(await refusal(workdir)).toContain(`${parent} may be written by its group`);
    expect(await refusal(join(parent, 'new'))).toContain(`${parent} may be written by its group`);
  });

  it('as the link that leads to the workdir is refused', async () => {
    const { parent, workdir } = place();
    const link = join(parent, 'link');
    symlinkSync(workdir, link);
    expect(await refusal(link)).toBe('none');
    lchownSync(link, stranger, stranger);
    expect(await refusal(link)).toContain(`${link} belongs to user ${stranger}`);
  });

  it('as the folder of the programs, or as one of them, is refused, and its agent is not run', async () => {
    const { workdir } = place();
    const machine = cluster.machine({ workdir });
    const { nodeDir } = await machine.nodes[0]!.probe();
    const ran = join(workdir, 'ran');
    const agent = join(nodeDir!, 'bin', 'agent');
    mkdirSync(join(nodeDir!, 'bin'), { recursive: true });
    writeFileSync(agent, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    chownSync(agent, stranger, stranger);
    expect(await refusal(workdir)).toContain(`${agent} belongs to user ${stranger}`);
    chownSync(nodeDir!, stranger, stranger);
    expect(await refusal(workdir)).toContain(`${nodeDir!} belongs to user ${stranger}`);
    chownSync(join(workdir, 'node'), stranger, stranger);
    expect(await refusal(workdir)).toContain(`${join(workdir, 'node')} belongs to user ${stranger}`);
    expect(() => readFileSync(ran)).toThrow();
  });
});

it('programs that are not what was sent are not run: their bytes are read before each start', async () => {
  const { workdir } = place();
  const machine = cluster.machine({ workdir });
  await machine.node.hello();
  const { nodeDir, runtimeDir } = await machine.nodes[0]!.probe();
  for (const name of ['bin/python', 'bin/mpiexec', 'lib/libmpi.so.12', 'lib/libdnnl.so.3']) {
    mkdirSync(join(runtimeDir!, name, '..'), { recursive: true });
    writeFileSync(join(runtimeDir!, name), 'in place of it\n');
  }
  const sent = readFileSync(join(bundleDir, 'bin', 'trainer'));
  const trainer = join(nodeDir!, 'bin', 'trainer');
  const changed = Buffer.from(sent);
  changed[changed.length >> 1]! ^= 1;
  writeFileSync(trainer, changed);
  await machine.runtime();
  const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  expect(hash(readFileSync(trainer))).toBe(hash(sent));
});
