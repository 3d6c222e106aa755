// The pictures that lie beside a run for a prediction: they go, whatever comes of it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Cancelled, UserError } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { predictPictures, type Prediction } from '../../../../src/core/checkpoints/predict.js';
import { SshMachine } from '../../../../src/core/cluster/sshMachine.js';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import { temporaryFolder } from '../../support/temporary.js';

const picture = join(temporaryFolder(), 'cat.jpg');
writeFileSync(picture, Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
const dir = nodePath('/w/runs/r');
const entry = { id: 'r', dir, run: { program: 'trainer' }, state: null } as unknown as RunEntry;
const top5 = [{ class: 'cat', probability: 1 }];

/** A cluster that copies and removes as the test says. */
class Cluster {
  readonly copied: string[] = [];
  readonly removed: string[] = [];
  readonly logged: string[] = [];

  constructor(
    private readonly copy: () => Promise<number>,
    private readonly remove: () => Promise<void>,
  ) {}

  predict(): Promise<Prediction[]> {
    const text = `${JSON.stringify({ path: '/x/00000.jpg', top5 })}\n`;
    const read = ({ offset }: { offset: number }): object => ({
      data: Buffer.from(text).subarray(offset).toString('base64'),
    });
    const client = {
      request: (_method: string, params: { offset: number }) => Promise.resolve(read(params)),
    };
    const parts: Partial<Record<keyof SshMachine, unknown>> = {
      nodes: [],
      node: { hello: () => Promise.resolve({ cores: 4 }), client: () => Promise.resolve(client) },
      runTrainer: () => Promise.resolve(''),
      copy: (_nodes: unknown, _from: string, to: string) => {
        this.copied.push(to);
        return this.copy();
      },
      removeFolder: (path: string) => {
        this.removed.push(path);
        return this.remove();
      },
    };
    const machine = Object.create(SshMachine.prototype) as SshMachine;
    for (const [name, value] of Object.entries(parts)) Object.defineProperty(machine, name, { value });
    const logger = { log: (_level: string, text: string) => void this.logged.push(text) };
    return predictPictures(machine, entry, { path: 'checkpoints/1', step: 1 }, [picture], { logger });
  }
}

it('are removed after a prediction', async () => {
  const cluster = new Cluster(
    () => Promise.resolve(1),
    () => Promise.resolve(),
  );
  expect(await cluster.predict()).toEqual([{ file: picture, top5 }]);
  expect(cluster.copied[0]).toMatch(/^\/w\/runs\/r\/predict-[0-9a-f]{12}$/);
  expect(cluster.removed).toEqual(cluster.copied);
  expect(cluster.logged).toEqual([]);
});

it('are removed where the copy was given up', async () => {
  const cluster = new Cluster(
    () => Promise.reject(new Cancelled()),
    () => Promise.resolve(),
  );
  await expect(cluster.predict()).rejects.toBeInstanceOf(Cancelled);
  expect(cluster.removed).toEqual(cluster.copied);
  expect(cluster.removed).toHaveLength(1);
});

const refused = new UserError('failed', 'it cannot be removed', '');

it('cost no prediction where they cannot be removed', async () => {
  const cluster = new Cluster(
    () => Promise.resolve(1),
    () => Promise.reject(refused),
  );
  expect(await cluster.predict()).toEqual([{ file: picture, top5 }]);
  expect(cluster.logged).toEqual([`pictures are left in ${cluster.copied[0] ?? ''}: it cannot be removed.`]);
});

it('hide no failure where they cannot be removed', async () => {
  const lost = new UserError('connection', 'gpu1 was lost', '');
  const cluster = new Cluster(
    () => Promise.reject(lost),
    () => Promise.reject(refused),
  );
  await expect(cluster.predict()).rejects.toBe(lost);
});
