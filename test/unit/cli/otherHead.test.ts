// --head of trainyard resume, while somebody changes the profile.
import { expect, it } from 'vitest';
import type { Args } from '../../../src/cli/args.js';
import type { Context } from '../../../src/cli/context.js';
import { underOtherHead } from '../../../src/cli/otherHead.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { ProfileStore } from '../../../src/core/profiles/store.js';
import { temporaryFolder } from '../support/temporary.js';

const home = temporaryFolder();
const lab: Profile = {
  name: 'lab',
  kind: 'ssh',
  hosts: [{ host: 'gpu1' }, { host: 'gpu2' }],
  mirror: 'gpu2',
};

it('saves the head alone, in the profile as it is then', async () => {
  const store = new ProfileStore(home);
  await store.save(lab);
  const entry = { id: 'r', dir: '/w/runs/r', run: null, state: null, interrupted: true };
  const answers: Record<string, () => Promise<object>> = {
    'mirror.list': () => Promise.resolve({ runs: [entry] }),
    'mirror.adopt': async () => {
      await new ProfileStore(home).save({ ...lab, workdir: '/new' });
      return { dir: entry.dir, adopted: true, shared: false };
    },
    'run.get': () => Promise.resolve(entry),
  };
  const client = { request: (method: string) => answers[method]?.() };
  const machine = {
    node: { client: () => Promise.resolve(client) },
    registry: () => Promise.resolve({ list: () => Promise.resolve([]) }),
  };
  const notes: string[] = [];
  const context = {
    profiles: store,
    logger: { log: () => undefined },
    output: { note: (text: string) => notes.push(text) },
    profileOfNamed: () => store.get('lab'),
    unsavedProfile: () => machine,
    beside: () => ({ registry: () => Promise.reject(new Error('gpu1 is gone')) }),
    runsKnown: () => Promise.resolve(new Set()),
    withProgress: (work: (progress: object) => unknown) => work({ onProgress: () => undefined }),
  } as unknown as Context;
  await underOtherHead(context, { words: ['r'] } as unknown as Args, 'gpu2');
  expect(await store.get('lab')).toEqual({ ...lab, workdir: '/new', head: 'gpu2', mirror: 'gpu1' });
  expect(notes).toEqual(['gpu2 is the head of profile lab from now on, and gpu1 its mirror']);
});
