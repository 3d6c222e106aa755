// A part of the images held out for validation: by two nodes with a disk of their own each, and by
// this machine. The halves are recognised afterwards, whichever way they are named.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodePath, pathOfThisNode } from '../../../src/core/base/nodePath.js';
import { dataFlags } from '../../../src/core/cluster/dataFlags.js';
import { halvesOf, validationBeside } from '../../../src/core/cluster/halves.js';
import { holdOut } from '../../../src/core/cluster/holdOut.js';
import { LocalMachine } from '../../../src/core/cluster/localMachine.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import { linkRuntime } from '../../cluster/support/hosts.js';
import { expectExit, runTrainer } from '../../support/harness.js';
import { testCluster, type TestCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-hold-'));
let cluster: TestCluster;
let machine: SshMachine;
const here = new LocalMachine({ bundleDir: join(import.meta.dirname, '../../../dist') });

const home = (index: number): string => cluster.practice.nodes[index]?.home ?? '';
const shards = ['labels.txt', 'train-00000-of-00001', 'validation-00000-of-00001'];

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:3x20', '--to', join(dir, 'drawn')]), 0);
  for (const index of [1, 2]) linkRuntime(join(dir, `practice-${index}`, 'home/.trainyard'));
  cluster = await testCluster(dir, { nodes: 2 });
  machine = cluster.machine();
});
afterAll(async () => {
  machine.dispose();
  here.dispose();
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

it('makes the same halves on every node, in a new folder each time', async () => {
  for (const index of [0, 1]) {
    cpSync(join(dir, 'drawn/train'), join(home(index), 'images/birds'), { recursive: true });
  }
  const heard: string[] = [];
  const onProgress = (text: string): void => void heard.push(text);
  const made = await holdOut(machine, nodePath('~/images/birds'), 48, { onProgress });
  expect(made).toMatchObject({
    data: '~/images/birds-shards/train',
    evalData: '~/images/birds-shards/validation',
  });
  expect(made.said).toMatch(/^39 training and 9 validation images of 3 classes in /);
  const at = (index: number, name: string): string => join(home(index), 'images/birds-shards', name);
  for (const name of shards) expect(readFileSync(at(0, name))).toEqual(readFileSync(at(1, name)));
  for (const { name } of machine.nodes) expect(heard.some((text) => text.includes(name))).toBe(true);
  const again = await holdOut(machine, nodePath('~/images/birds'), 48);
  expect(again.data).toBe('~/images/birds-shards-2/train');
  expect(readdirSync(join(home(1), 'images')).sort()).toEqual(['birds', 'birds-shards', 'birds-shards-2']);
});

it('recognises the halves of shards on the nodes', async () => {
  const folder = nodePath('~/images/birds-shards');
  const words = ['--data', `${folder}/train`, '--eval-data', `${folder}/validation`];
  expect(await dataFlags(machine, folder)).toEqual(words);
  expect(await validationBeside(machine, nodePath(`${folder}/train`))).toBe(`${folder}/validation`);
  expect(await halvesOf(machine, nodePath('~/images/birds'))).toEqual({ data: '~/images/birds' });
});

it('does both on this machine, also for halves of folders', async () => {
  const train = pathOfThisNode(join(dir, 'drawn/train'));
  expect(await halvesOf(here, train)).toEqual({ data: train, evalData: join(dir, 'drawn/validation') });
  expect(await dataFlags(here, join(dir, 'drawn'))).toEqual([
    ...['--data', train],
    ...['--eval-data', join(dir, 'drawn/validation')],
  ]);
  mkdirSync(join(dir, 'alone'));
  cpSync(train, join(dir, 'alone/train'), { recursive: true });
  const alone = pathOfThisNode(join(dir, 'alone/train'));
  expect(await halvesOf(here, alone)).toEqual({ data: alone });
  const { data, evalData } = await holdOut(here, alone, undefined);
  expect(data).toBe(`${alone}-shards/train`);
  expect(existsSync(`${alone}-shards/labels.txt`)).toBe(true);
  expect(await halvesOf(here, pathOfThisNode(join(dir, 'alone/train-shards')))).toEqual({ data, evalData });
  expect(await holdOut(here, alone, 48).then((made) => made.data)).toBe(`${alone}-shards-2/train`);
});
