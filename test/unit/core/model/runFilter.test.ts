// Which runs of a list fit a filter, and what may be typed for one.
import { describe, expect, it } from 'vitest';
import {
  filteredRun,
  filterOf,
  fits,
  isEmptyFilter,
  statusesOf,
  type RunFilter,
} from '../../../../src/core/model/runFilter.js';
import type { RunStatus } from '../../../../src/core/model/runStatus.js';
import { listedRun } from '../../support/listedRun.js';

const none: RunFilter = { statuses: [], tags: [], text: '' };
const about = { name: 'Larger batch', tags: ['baseline', 'lr 0.1'], notes: 'as in the paper' };
const run = (status: RunStatus = 'finished') => {
  const { entry } = listedRun('20261121-104500-resnet20-1f2e', status);
  const file = { argv: ['train', '--data', '/data/Birds'] } as NonNullable<typeof entry.run>;
  return filteredRun('lab', { ...entry, about, run: file }, status);
};

describe('a filter of runs', () => {
  it('that asks for nothing takes every run', () => {
    expect(isEmptyFilter(none)).toBe(true);
    expect(isEmptyFilter({ ...none, text: ' x' })).toBe(false);
    expect(fits(run(), none)).toBe(true);
    expect(fits({ ...run(), name: '', tags: [], more: [] }, none)).toBe(true);
  });

  it.each<[Partial<RunFilter>, boolean]>([
    [{ statuses: ['failed', 'finished'] }, true],
    [{ statuses: ['failed'] }, false],
    [{ tags: ['Baseline'] }, true],
    [{ tags: ['baseline', 'lr 0.1'] }, true],
    [{ tags: ['base'] }, false],
    [{ tags: ['baseline', 'other'] }, false],
    [{ text: 'BIRDS larger' }, true],
    [{ text: 'paper lab 1f2e' }, true],
    [{ text: 'birds cats' }, false],
    [{ statuses: ['finished'], tags: ['baseline'], text: 'cats' }, false],
  ])('%j', (asked, expected) => {
    expect(fits(run(), { ...none, ...asked })).toBe(expected);
  });

  it.each<[string, Partial<RunFilter>]>([
    ['  ', {}],
    ['larger  birds', { text: 'larger birds' }],
    ['status:failed,stopped Birds', { statuses: ['failed', 'stopped'], text: 'Birds' }],
    ['Tag:baseline tag:"lr 0.1"', { tags: ['baseline', 'lr 0.1'] }],
    ['"as in" host:a', { text: 'as in host:a' }],
  ])('is read from the line "%s"', (line, expected) => {
    expect(filterOf(line)).toEqual({ ...none, ...expected });
  });

  it('knows what a status is', () => {
    expect(statusesOf('failed, Stopped', 'it')).toEqual(['failed', 'stopped']);
    expect(() => statusesOf('failed,gone', 'it')).toThrow(
      'it names no status of a run: "gone". Use one of: queued, starting, running, evaluating',
    );
  });
});
