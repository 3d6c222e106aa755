// What a form's data lacks on the nodes, and what of it is looked for.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import {
  contentOf,
  contentText,
  dataOfForm,
  lackOf,
  lookAtData,
} from '../../../../src/core/cluster/formData.js';
import { LocalMachine } from '../../../../src/core/cluster/localMachine.js';
import { SshMachine } from '../../../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { emptyForm } from '../../../../src/core/plan/form/runForm.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu2' }] };
const here: Profile = { name: 'local', kind: 'local' };

describe('what of a form is looked for', () => {
  const form = { ...emptyForm('lab'), data: ' ~/a ', evalData: '/b' };
  it('is every path', () => {
    expect(dataOfForm(form, lab, '/w')).toEqual([
      { name: 'data', path: '~/a' },
      { name: 'eval-data', path: '/b' },
    ]);
    expect(dataOfForm({ ...form, data: 'images', evalData: '' }, here, '/w')).toEqual([
      { name: 'data', path: '/w/images' },
    ]);
  });

  it('is nothing that is staged, no name, and nothing of an own program', () => {
    expect(dataOfForm({ ...form, stage: '/shared/b:/b' }, lab, '/w')).toEqual([
      { name: 'data', path: '~/a' },
    ]);
    expect(dataOfForm({ ...form, stage: 'nonsense' }, lab, '/w')).toEqual([]);
    expect(dataOfForm({ ...form, data: 'synthetic', evalData: '' }, lab, '/w')).toEqual([]);
    expect(dataOfForm({ ...form, what: 'program' }, lab, '/w')).toEqual([]);
  });
});

describe('what the nodes lack', () => {
  const look = (...kinds: string[]): Parameters<typeof lackOf>[0] => ({
    name: 'data',
    path: nodePath('~/a'),
    found: kinds.map((what, at) => ({ host: `gpu${at + 1}`, what })),
  });
  const all = { nodes: '', hosts: '', ranks: '', gpus: '' };

  it('is named with the first node', () => {
    expect(lackOf(look('missing', 'missing'), '~/a', all)).toBe('gpu1 has no ~/a');
    expect(lackOf(look('folder', 'missing'), '~/a', all)).toBe('gpu2 has no ~/a');
    expect(lackOf(look('folder', 'Permission denied'), '~/a', all)).toBe(
      '~/a cannot be read on gpu2: Permission denied',
    );
    expect(lackOf(look('folder', 'shards'), '~/a', all)).toBeUndefined();
  });

  it('counts the hosts that are named alone', () => {
    expect(lackOf(look('folder', 'missing'), '~/a', { ...all, hosts: 'gpu1' })).toBeUndefined();
    const both = { ...all, hosts: 'gpu1, gpu3' };
    expect(lackOf(look('folder', 'missing', 'missing'), '~/a', both)).toBe('gpu3 has no ~/a');
    expect(lackOf(look('missing'), '~/a', { ...all, hosts: 'gpu7' })).toBe('gpu1 has no ~/a');
  });

  it('is nothing where a run of fewer nodes has enough', () => {
    const some = look('folder', 'folder', 'missing', 'missing');
    expect(lackOf(some, '~/a', all, { maxNodes: 2 })).toBeUndefined();
    expect(lackOf(some, '~/a', all, { train: { ranks: 2 } })).toBeUndefined();
    expect(lackOf(some, '~/a', all, { maxNodes: 4 })).toBe('gpu3 has no ~/a');
    expect(lackOf(look('folder', 'missing'), '~/a', { ...all, nodes: '1' })).toBeUndefined();
    expect(lackOf(look('folder', 'missing'), '~/a', { ...all, nodes: '2' })).toBe('gpu2 has no ~/a');
    expect(lackOf(look('missing', 'missing'), '~/a', { ...all, ranks: '1' })).toBe('gpu1 has no ~/a');
  });
});

it('looks at this machine', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'form-data-'));
  const machine = new LocalMachine({ bundleDir: folder });
  const looks = await lookAtData(machine, [
    { name: 'data', path: nodePath(folder) },
    { name: 'eval-data', path: nodePath(join(folder, 'none')) },
  ]);
  expect(looks.map(({ found }) => found[0]?.what)).toEqual(['folder', 'missing']);
  for (const name of ['a', 'b', '.c']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, '1.jpg'), '');
  }
  expect(await contentOf(machine, nodePath(folder))).toEqual({ classes: 2, images: 2 });
  expect(await contentOf(machine, nodePath(join(folder, 'a')))).toBeUndefined();
  machine.dispose();
});

it('tells of each node that does not answer why, unless none answers', async () => {
  const refused = new UserError('connection', 'gpu2 cannot be reached', 'Check the network');
  const node = (name: string, look: () => Promise<string[]>): object => ({ name, host: {}, look });
  const there = node('gpu1', () => Promise.resolve(['folder', 'missing']));
  const gone = node('gpu2', () => Promise.reject(refused));
  const machine = (...nodes: object[]): SshMachine =>
    Object.create(SshMachine.prototype, { nodes: { value: nodes } }) as SshMachine;
  const data = { name: 'data', path: nodePath('~/a') } as const;
  const both = [data, { name: 'eval-data', path: nodePath('~/b') }] as const;
  const looks = await lookAtData(machine(there, gone), both, { partial: true });
  const why = { host: 'gpu2', what: 'gpu2 cannot be reached. Check the network.' };
  expect(looks.map(({ found }) => found)).toEqual([
    [{ host: 'gpu1', what: 'folder' }, why],
    [{ host: 'gpu1', what: 'missing' }, why],
  ]);
  await expect(lookAtData(machine(gone, gone), both, { partial: true })).rejects.toThrow(refused);
  // Somebody chooses one of them, by what all nodes have.
  await expect(lookAtData(machine(there, gone), [data, data])).rejects.toThrow(refused);
});

it('says how many images an epoch leaves out', () => {
  expect(contentText({ classes: 1, images: undefined }, 8)).toBe('1 class.');
  expect(contentText({ classes: 3, images: 300 }, undefined)).toBe('3 classes, 300 images.');
  expect(contentText({ classes: 3, images: 300 }, 100)).toBe('3 classes, 300 images.');
  expect(contentText({ classes: 3, images: 300 }, 256)).toContain('Each epoch leaves out 44 of them');
  expect(contentText({ classes: 3, images: 3 }, 256)).toContain('less than one step, which takes 256');
});
