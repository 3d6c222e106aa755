import { expect, it } from 'vitest';
import type { RunStatus } from '../../../../src/core/model/runStatus.js';
import { orderedRuns } from '../../../../src/ui/commands/runOrder.js';

const run = (dir: string, status: RunStatus): { run: { status: RunStatus; entry: { dir: string } } } => ({
  run: { status, entry: { dir } },
});
const runs = [run('c', 'finished'), run('b', 'interrupted'), run('a', 'running'), run('0', 'stopping')];
const names = (selected: string | undefined, runningFirst: boolean): string =>
  orderedRuns(runs, selected, runningFirst)
    .map(({ run: { entry } }) => entry.dir)
    .join('');

it('keeps the order of the list, with the selected run first', () => {
  expect(names(undefined, false)).toBe('cba0');
  expect(names('b', false)).toBe('bca0');
});

it('puts what is under way before the selected run', () => {
  expect(names('b', true)).toBe('a0bc');
  expect(names('0', true)).toBe('0acb');
});

it('puts runs of reports behind own runs', () => {
  const about = { name: 'bake-off: 2 ranks', tags: ['bake-off'], notes: '' };
  const measured = (dir: string, status: RunStatus) => ({ run: { status, entry: { dir, about } } });
  const all = [
    measured('m', 'finished'),
    run('c', 'finished'),
    measured('n', 'running'),
    run('a', 'running'),
  ];
  const dirs = (selected: string | undefined, runningFirst: boolean): string =>
    orderedRuns(all, selected, runningFirst)
      .map(({ run: { entry } }) => entry.dir)
      .join('');
  expect(dirs(undefined, false)).toBe('camn');
  expect(dirs(undefined, true)).toBe('ancm');
  expect(dirs('m', false)).toBe('mcan');
});
