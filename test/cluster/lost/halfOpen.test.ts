// Fault 1: the link to the head falls silent, and nobody is told.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamespaceCluster } from '../../support/namespaces.js';
import { unavailable } from '../../support/namespaces.js';
import { form } from '../support/form.js';
import { separateHosts, type FaultHosts } from '../support/hosts.js';
import {
  endless,
  linesOf,
  measured,
  seconds,
  startRun,
  training,
  untilStep,
  Watcher,
} from '../support/runs.js';

/** Longer than it takes to see it, so that attempts to connect fail too. */
const silence = form(30_000, 300_000);

describe.skipIf(unavailable !== undefined)(`a half-open connection (${unavailable ?? 'namespaces'})`, () => {
  let hosts: FaultHosts;
  let network: NamespaceCluster;
  beforeAll(async () => {
    ({ hosts, network } = await separateHosts(1));
  });
  afterAll(() => hosts.stop());

  test('is seen within 20 s and left behind within 10 s of healing; training never paused', async () => {
    const machine = hosts.machine();
    const dir = await startRun(machine, hosts.profile, training(endless));
    const watcher = new Watcher(machine, dir);
    await untilStep(dir, 200);
    await sleep(3000);
    const cutAt = Date.now();
    network.cut(network.hosts[0]!);
    const lost = await watcher.next('lost', cutAt, 30);
    await sleep(silence - (Date.now() - cutAt));
    const healedAt = Date.now();
    network.heal(network.hosts[0]!);
    const back = await watcher.next('back', healedAt, 60);
    watcher.dispose();
    await machine.stop(dir, 'now');

    const steps = linesOf(dir, 'metrics.jsonl').filter(({ kind }) => kind === 'step');
    const during = steps.filter(({ time }) => Number(time) * 1000 > cutAt && Number(time) * 1000 < healedAt);
    const gaps = during.slice(1).map((line, index) => Number(line['time']) - Number(during[index]!['time']));
    const pause = Math.max(...gaps) * 1000;
    measured(
      1,
      `silent for ${seconds(healedAt - cutAt)}: lost after ${seconds(lost)}, back ${seconds(back)} after healing, ` +
        `${during.length} metrics lines meanwhile, at most ${seconds(pause)} apart`,
    );
    expect(lost).toBeLessThan(20_000);
    expect(back).toBeLessThan(10_000);
    expect(during.length).toBeGreaterThan(10);
    expect(pause).toBeLessThan(3000);
  });
});
