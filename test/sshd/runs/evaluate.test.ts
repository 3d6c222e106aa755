// A checkpoint on a node is evaluated on images whose path begins at the home folder there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { evaluateCheckpoint } from '../../../src/core/checkpoints/evaluate.js';
import type { RunDetails } from '../../../src/core/contracts/agentApi.js';
import { OverviewReader } from '../../../src/core/follow/overview.js';
import { isOver, statusOf } from '../../../src/core/model/runStatus.js';
import { requestOf } from '../../../src/core/plan/request/request.js';
import { linkRuntime } from '../../cluster/support/hosts.js';
import { checkpointName, until } from '../../support/harness.js';
import { testCluster, type TestCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-evaluate-'));
let cluster: TestCluster;
beforeAll(async () => {
  linkRuntime(join(dir, 'cluster/practice-1/home/.trainyard'));
  cluster = await testCluster(join(dir, 'cluster'), { nodes: 1 });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

it("~ is the home folder of the node, and other images than the run's own do not count", async () => {
  const machine = cluster.machine();
  const { home } = await machine.node.hello();
  const data = join(home, 'shapes');
  await machine.runTrainer(['prep', '--from', 'demo:3x10', '--to', data, '--image-size', '32']);
  const train = ['train', '--model', 'mlp', '--data', '~/shapes/train', '--eval-data', '~/shapes/validation'];
  const words = [...train, '--steps', '2', '--batch-size', '8', '--checkpoint-every', '2'];
  const request = requestOf({ profile: cluster.profile, words, ranks: 1, cwd: '/' });
  const { dir: run } = await machine.start(request);
  const client = await machine.node.client();
  const look = (): Promise<RunDetails> => client.request('run.get', { dir: run });
  await until('the run to end', async () => isOver(statusOf(await look())), 60);
  const entry = await look();
  const checkpoint = { step: 2, path: nodePath(`checkpoints/${checkpointName(2)}`) };

  const own = await evaluateCheckpoint(machine, entry, checkpoint, '~/shapes/validation/');
  expect(own).toMatchObject({ step: 2, data: join(data, 'validation/'), once: true });
  const other = await evaluateCheckpoint(machine, entry, checkpoint, '~/shapes/train');
  expect(other).toMatchObject({ step: 2, data: join(data, 'train'), once: true });
  expect(other.images).not.toBe(own.images);

  const { best, top1, top1At, otherAt } = await new OverviewReader().read(client, entry);
  expect([best?.top1, top1, top1At(2)]).toEqual([own.top1, own.top1, own.top1]);
  expect(otherAt(2)).toEqual({ step: 2, top1: other.top1, data: other.data, images: other.images });

  const missing = evaluateCheckpoint(machine, entry, checkpoint, '~/nothing');
  await expect(missing).rejects.toThrow(`${machine.nodes[0]?.name}: data: ${home}/nothing does not exist`);
}, 180_000);
