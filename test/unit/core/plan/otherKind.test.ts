// A run once more on a profile of its name that is of another kind by now.
import { describe, expect, it } from 'vitest';
import { parseVerb } from '../../../../src/cli/args.js';
import { leftOut, runFrom, typedFrom } from '../../../../src/cli/verbs/runFrom.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import type { RunFile } from '../../../../src/core/contracts/runSchema.js';
import { formOf } from '../../../../src/core/plan/form/runForm.js';
import { placeRanks } from '../../../../src/core/plan/placement.js';
import type { AskedRun } from '../../../../src/core/plan/request/commandLine.js';
import { otherKind } from '../../../../src/core/plan/request/otherKind.js';
import { requestOf, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { resumedRun } from '../../../../src/core/plan/resume.js';
import { withoutLostHosts } from '../../../../src/ui/form/lostHosts.js';

const local: Profile = { name: 'lab', kind: 'local' };
const slurm: Profile = { name: 'lab', kind: 'slurm', hosts: [{ host: 'login' }] };
const ssh: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }] };
const hosts = ['gpu1', 'gpu3'];
const onHere = 'the run asked for the hosts gpu1, gpu3, and profile lab is this machine alone now';
const onSlurm = 'the run asked for the hosts gpu1, gpu3, and Slurm chooses the nodes of profile lab now';
const onSsh = 'the run asked for partition=long of Slurm, and profile lab has no queue of Slurm now';
const onOneNode = 'the run asked for 2 nodes, and profile lab is this machine alone now';

describe('what a profile of another kind cannot give', () => {
  it('is said, with why', () => {
    expect(otherKind(local, { hosts })).toEqual({ what: onHere, fields: ['hosts', 'ranks'] });
    expect(otherKind(slurm, { hosts })).toEqual({ what: onSlurm, fields: ['hosts'] });
    expect(otherKind(local, { nodes: 2 })).toEqual({ what: onOneNode, fields: ['nodes', 'ranks'] });
    expect(otherKind(ssh, { slurm: ['partition=long'] })).toEqual({ what: onSsh, fields: ['slurm'] });
    expect(otherKind(local, { hosts: ['gpu1'], slurm: ['time=5'] })?.what).toContain(
      'the host gpu1 and time=5 of Slurm',
    );
  });

  it('is nothing of what every kind has, and nothing on the same kind', () => {
    for (const profile of [local, slurm, ssh]) expect(otherKind(profile, { nodes: 1 })).toBeUndefined();
    expect(otherKind(ssh, { hosts, nodes: 2 })).toBeUndefined();
    expect(otherKind(slurm, { nodes: 2, slurm: ['time=5'] })).toBeUndefined();
  });
});

const argv = ['train', '--data', 'synthetic'];
const record = {
  ...{ program: 'trainer', limits: {}, argv, ranks: 64, tensorboard: false, evaluator: null },
  paths: { trainer: '/n/trainer' },
};
const entryOf = (more: object) => ({
  ...{ id: 'x', dir: nodePath('/runs/x'), state: null, interrupted: true },
  run: { ...record, ...more } as unknown as RunFile,
});
const here = [{ host: { host: 'me' }, address: '', cores: 64, gpus: [], isHere: true }];

describe('a new run from a checkpoint', () => {
  /** As `trainyard run-from` reads it. */
  const from = (profile: Profile, more: object, ...words: string[]): TypedRun => {
    const args = parseVerb(runFrom, ['x', ...words]);
    return typedFrom(entryOf(more), { path: 'checkpoints/step-00000060' }, { profile, cwd: '/' }, args);
  };

  it('leaves that out, and can be placed', () => {
    for (const more of [{ hostsAsked: hosts }, { nodes: [{}, {}] }]) {
      expect(leftOut(entryOf(more), local)?.what).toMatch(/this machine alone now$/);
      const placement = placeRanks(requestOf(from(local, more)), 'cpu', here);
      expect(placement).toMatchObject({ ranks: 2, nodes: [{ host: 'me' }] });
    }
    const onQueue = from(slurm, { hostsAsked: hosts });
    expect(onQueue).toMatchObject({ ranks: 64 });
    expect(requestOf(onQueue).hosts).toBeUndefined();
    expect(leftOut(entryOf({ nodes: [{}, {}] }), slurm)).toBeUndefined();
  });

  it('is refused where hosts are named for it, with why', () => {
    const typed = from(slurm, { hostsAsked: hosts }, '--hosts', 'gpu1');
    expect(() => requestOf(typed)).toThrow('Slurm chooses the nodes of profile lab');
  });
});

it('a run that goes on here is on one node', () => {
  const typed = resumedRun(entryOf({ nodes: [{}, {}] }), local, '/');
  expect(placeRanks(requestOf(typed), 'cpu', here)).toMatchObject({ ranks: 64, nodes: [{ host: 'me' }] });
});

it('the form of such a run leaves that out, and says it', () => {
  const filled = (profile: Profile, more: Partial<AskedRun>): object | undefined => {
    const asked = { profile: 'lab', words: argv, ranks: 4, ...more };
    const found = withoutLostHosts(formOf(asked), profile);
    if (!found) return undefined;
    const { hosts: named, nodes, ranks, slurm: wish } = found.values;
    return { hosts: named, nodes, ranks, wish, said: found.said };
  };
  const none = { hosts: '', nodes: '', ranks: '4', wish: {} };
  const said = (what: string): string => `${what}. That is left out here.`;
  expect(filled(local, { hosts })).toEqual({ ...none, ranks: '', said: said(onHere) });
  expect(filled(local, { nodes: 2 })).toEqual({ ...none, ranks: '', said: said(onOneNode) });
  // A program has as many processes as it had.
  expect(filled(local, { hosts, words: ['mpirun'] })).toEqual({ ...none, said: said(onHere) });
  expect(filled(slurm, { hosts })).toEqual({ ...none, said: said(onSlurm) });
  expect(filled(ssh, { slurm: { partition: 'long' } })).toEqual({ ...none, said: said(onSsh) });
  expect(filled(local, {})).toBeUndefined();
});
