import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { aboutOf, givenAbout, tagsOf, type TypedAbout } from '../../../../src/core/plan/request/about.js';

const before = { name: 'first', tags: ['a'], notes: 'old' };

describe('what a run is called', () => {
  it('keeps what is not typed, and an empty text takes it away', () => {
    expect(aboutOf({}, before)).toEqual(before);
    expect(aboutOf({ name: ' second ' }, before)).toEqual({ ...before, name: 'second' });
    expect(aboutOf({ name: '', notes: '' }, before)).toEqual({ name: '', tags: ['a'], notes: '' });
    expect(aboutOf({ tags: [] }, before)).toEqual({ ...before, tags: [] });
  });

  it('is nothing where nothing was typed', () => {
    expect(givenAbout({})).toBeUndefined();
    expect(givenAbout({ name: ' ', tags: [','], notes: '\n' })).toBeUndefined();
    expect(givenAbout({ tags: ['x'] })).toEqual({ name: '', tags: ['x'], notes: '' });
  });

  it('takes each tag once, by commas too, without the sign before it', () => {
    expect(tagsOf(['#a, b', 'a', 'lr 0.1', ''])).toEqual(['a', 'b', 'lr 0.1']);
  });

  it.each<[TypedAbout, RegExp]>([
    [{ name: '***' }, /no letter or digit/],
    [{ name: 'two\nlines' }, /one line/],
    [{ name: 'x'.repeat(81) }, /81 characters, and 80/],
    [{ tags: ['x'.repeat(41)] }, /41 characters, and 40/],
    [{ tags: ['a\u001bb'] }, /one line/],
    [{ tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, /21 tags are more than 20/],
    [{ notes: 'x'.repeat(4001) }, /4001 characters, and 4000/],
  ])('refuses %o', (typed, words) => {
    expect(() => aboutOf(typed)).toThrow(UserError);
    expect(() => aboutOf(typed)).toThrow(words);
  });

  it('counts characters as people do, and the longest fits what the agent takes', () => {
    const longest = { name: '🚂'.repeat(80), tags: ['🚂'.repeat(40)], notes: '🚂'.repeat(4000) };
    expect(aboutOf({ ...longest, name: `${longest.name.slice(2)}x` }).notes).toBe(longest.notes);
    // Bytes: native/agent/run/folder/run_about.cpp.
    expect(Buffer.byteLength(longest.name)).toBeLessThanOrEqual(400);
    expect(Buffer.byteLength(longest.tags[0] ?? '')).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(longest.notes)).toBeLessThanOrEqual(16_000);
  });
});
