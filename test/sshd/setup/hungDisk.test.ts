// A disk that hangs, as a file server's does that is gone: each question that meets it ends with an
// error that names the node and the path, and everything else goes on. The limit is 30 s, so this
// takes as long. Mounts need root.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { SshNode } from '../../../src/core/cluster/nodes/sshNode.js';
import { UserError } from '../../../src/core/base/errors.js';
import { Bootstrap, silenceLimit } from '../../../src/core/setup/bootstrap.js';
import { HungFolder, noHungFolder } from '../../support/hungFolder.js';
import { testCluster, type TestCluster } from '../support/cluster.js';
import { FreezableDisk, noFreezableDisk } from '../support/freezableDisk.js';

/** Milliseconds beyond the limit that a loaded machine is given. */
const margin = 15_000;

const unavailable = noHungFolder ?? noFreezableDisk;

const dir = mkdtempSync(join(tmpdir(), 'trainyard-hung-'));
let cluster: TestCluster;
beforeAll(async () => {
  cluster = await testCluster(dir, { nodes: 2 });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

const home = (index: number): string => cluster.practice.nodes[index]!.home;

async function failure(work: Promise<unknown>): Promise<{ error: UserError; after: number }> {
  const started = Date.now();
  try {
    await work;
  } catch (error) {
    if (error instanceof UserError) return { error, after: Date.now() - started };
    throw error;
  }
  throw new Error('it did not fail');
}

describe.skipIf(unavailable)(`a hung disk${unavailable === undefined ? '' : ` (${unavailable})`}`, () => {
  it(
    'in probe, installation and list is an error that names node and path; the rest stays usable',
    async () => {
      const hung = await HungFolder.mount(join(home(1), 'hung'));
      const disk = new FreezableDisk(join(dir, 'image'), join(home(1), 'disk'));
      try {
        const machine = cluster.machine({ workdir: '~/hung/ty' });
        const [healthy, sick] = machine.nodes as readonly [SshNode, SshNode];
        const installing = cluster.machine({ workdir: '~/disk/ty' }).nodes[1]!;
        const onProgress = (text: string): void => {
          if (text.includes('uploading')) disk.freeze(); // it has asked for the bytes, none has come yet
        };
        const failures = Promise.all([
          failure(sick.probe()),
          failure(sick.node.hello()),
          failure(installing.hello({ onProgress })),
          failure(sick.list(nodePath('~/hung'))),
        ]);
        expect((await healthy.hello()).home).toBe(home(0));
        expect(await sick.list(nodePath('~/disk'))).toMatchObject({
          folders: expect.arrayContaining(['ty']) as string[],
        });
        for (const [index, { error, after }] of (await failures).entries()) {
          const path = ['~/hung/ty', '~/hung/ty', `${home(1)}/disk/ty/node/\\w+`, '~/hung'][index] ?? '';
          const verb = ['probe', 'probe', 'install', 'list'][index] ?? '';
          expect(error.code).toBe('connection');
          expect(error.message).toMatch(
            new RegExp(`^127\\.0\\.0\\.3 gave no sign of life for 30 s after .* to ${verb} about ${path}`),
          );
          expect(after).toBeGreaterThan(silenceLimit - 1_000);
          expect(after).toBeLessThan(silenceLimit + margin);
        }
        expect((await healthy.list(nodePath('~'))).folders).toContain('hung');
        expect(await sick.look([nodePath('~/disk')])).toEqual(['folder']);
      } finally {
        disk.release();
        await hung.release();
      }
    },
    silenceLimit + 60_000,
  );
});

describe('what is not of the protocol', () => {
  it.each([
    ['a line without end', `os.write(1, b"x" * 2000000)`, /line of more than 1048576 bytes/],
    ['a line of another program', `os.write(1, b"Last login: today\\n")`, /"Last login: today"/],
    ['an answer of another form', `os.write(1, b'{"progress": 7}\\n')`, /progress/],
  ])('%s is an error that names the node', async (_, text, expected) => {
    const connection = await cluster.machine().nodes[0]!.connection();
    const program = `import os, time\n${text}\ntime.sleep(100)\n`;
    const bootstrap = await Bootstrap.open(connection, program);
    const { error, after } = await failure(bootstrap.request('look', { paths: [] }, z.unknown()));
    expect(error.message).toMatch(expected);
    expect(error.message).toMatch(/127\.0\.0\.2/);
    expect(after).toBeLessThan(silenceLimit);
    bootstrap.dispose();
  });

  it('a line without end is one too while bytes are sent that the node does not take', async () => {
    const connection = await cluster.machine().nodes[0]!.connection();
    const endless = `while True:\n    os.write(1, b"x" * 50000)\n    time.sleep(0.01)`;
    const program = `import os, time\nos.write(1, b'{"send": true}\\n')\n${endless}\n`;
    const bootstrap = await Bootstrap.open(connection, program);
    const body = [Buffer.alloc(4_000_000), Buffer.alloc(4_000_000)];
    const { error, after } = await failure(bootstrap.request('install', {}, z.unknown(), { body }));
    bootstrap.dispose();
    expect(error.message).toMatch(/set-up program on 127\.0\.0\.2 .*line of more than 1048576 bytes/);
    expect(after).toBeLessThan(silenceLimit);
  });
});
