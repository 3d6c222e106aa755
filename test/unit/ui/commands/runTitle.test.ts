// How dialogs and tabs name runs.
import { expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { runTitle } from '../../../../src/ui/commands/runTitle.js';
import { compareTitle } from '../../../../src/ui/panels/compareTitle.js';
import type { Services } from '../../../../src/ui/services.js';
import { listedRun } from '../../support/listedRun.js';

it('a dialog names a run as its row does, and one that is not listed by its id', async () => {
  const run = listedRun('20261121-104500-mlp-1f2e', 'running');
  const about = { name: 'first try', tags: [], notes: '' };
  const monitor = { all: [{ profile: 'lab', run: { ...run, entry: { ...run.entry, about } } }] };
  const services = { backend: () => Promise.resolve({ monitor }) } as unknown as Services;
  const { id, dir } = run.entry;
  expect(await runTitle(services, { profile: 'lab', id, dir })).toBe('first try');
  expect(await runTitle(services, { profile: 'west', id, dir })).toBe('mlp-1f2e');
  const other = { profile: 'lab', id: 'attached', dir: nodePath('/other') };
  expect(await runTitle(services, other)).toBe('attached');
});

it('a comparison names its runs, and of many the first ones', () => {
  expect(compareTitle(['first try', 'adam'])).toBe('Compare first try, adam');
  expect(compareTitle(['a', 'b', 'c'])).toBe('Compare a, b, c');
  expect(compareTitle(['a', 'b', 'c', 'd'])).toBe('Compare a, b and 2 more');
});
