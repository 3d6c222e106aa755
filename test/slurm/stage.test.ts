// Data on the own disks of an allocation's nodes, before the run starts: from the shared disk and
// from an address, and only what is missing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoSlurm, type PracticeSlurm } from '../../scripts/practice/slurm.mjs';
import { expectExit } from '../support/harness.js';
import { SlurmBench } from './bench.js';

const why = whyNoSlurm();

describe.skipIf(why)(`Staging by Slurm${why === undefined ? '' : ` (${why})`}`, () => {
  let bench: SlurmBench;
  let slurm: PracticeSlurm;
  let shared: string;
  let server: Server;
  const nodes = ['n1', 'n2'];

  beforeAll(async () => {
    bench = await SlurmBench.start();
    ({ slurm } = bench);
    shared = join(slurm.dir, 'shared');
    mkdirSync(join(shared, 'deep'), { recursive: true });
    writeFileSync(join(shared, 'first'), 'one');
    writeFileSync(join(shared, 'deep/second'), Buffer.alloc(3_000_000, 'two'));
    // What was written less than 2 s ago is sent again (YOUNG in native/node/stage/tree.py).
    await new Promise((resolve) => setTimeout(resolve, 2500));
    server = createServer((_, response) => response.end('from afar'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    await bench.stop();
  });

  const leftSource = (log: string): number => Number(/(\d+) bytes left the source/.exec(log)?.[1]);

  /** Both nodes print the file of their own disk; what the job says of the staging. */
  async function run(label: string, from: string, to: string, file: string) {
    const words = ['--nodes', '2', '--ranks', '2', '--name', label, '--stage', `${from}:${to}`];
    const outcome = await bench.trainyard('run', 'slurm', ...words, '--', 'cat', join(to, file));
    const log = readFileSync(join(bench.folderOf(label), 'slurm.log'), 'utf8');
    const printed = [0, 1].map((rank) => join(bench.folderOf(label), `logs/rank-${rank}.log`));
    return { outcome, log, printed: (): string[] => printed.map((path) => readFileSync(path, 'utf8')) };
  }

  test('a folder of the shared disk is read once, and is on the disk of each node when the run starts', async () => {
    const to = join(slurm.disk, 'data');
    const { outcome, log, printed } = await run('staged', shared, to, 'first');
    expectExit(outcome, 0);
    expect(printed()).toEqual(['one', 'one']);
    for (const node of nodes) {
      const second = readFileSync(join(slurm.diskOf(node), 'data/deep/second'));
      expect(second.equals(readFileSync(join(shared, 'deep/second')))).toBe(true);
    }
    expect(log).toMatch(/staged 2 files, 3000003 bytes, in .*: n1 got 2 files, n2 got 2 files;/);
    expect(leftSource(log)).toBeLessThan(1.1 * 3_000_003);
  });

  test('the next run gets what has changed, and nothing else', async () => {
    writeFileSync(join(shared, 'first'), 'changed');
    const { outcome, log, printed } = await run('again', shared, join(slurm.disk, 'data'), 'first');
    expectExit(outcome, 0);
    expect(printed()).toEqual(['changed', 'changed']);
    expect(log).toMatch(/: n1 got 1 file, n2 got 1 file;/);
    expect(leftSource(log)).toBeLessThan(5000); // the list of files among them
  });

  test('what an address holds comes to the first node, and from there to the others', async () => {
    const { port } = server.address() as AddressInfo;
    const from = `http://127.0.0.1:${port}/words.txt`;
    const { outcome, printed } = await run('afar', from, join(slurm.disk, 'words'), 'words.txt');
    expectExit(outcome, 0);
    expect(printed()).toEqual(['from afar', 'from afar']);
  });

  test('a node that cannot have it is named, and the run has failed for that', async () => {
    writeFileSync(join(slurm.diskOf('n2'), 'taken'), 'a file in the way');
    const { outcome } = await run('refused', shared, join(slurm.disk, 'taken'), 'first');
    expectExit(outcome, 5);
    expect(outcome.stdout).toMatch(/reason +staging failed: n2: .*taken/);
    const missing = await bench.trainyard('run', 'slurm', '--stage', '/none:/tmp/x', '--', 'true');
    expectExit(missing, 4);
    expect(missing.stderr).toContain('/none does not exist');
  });
});
