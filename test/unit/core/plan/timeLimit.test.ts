// How long a run may take: what people type, and what the run's record then says.
import { expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';
import { withKept } from '../../../../src/core/plan/request/keptWishes.js';
import { silenceTimeoutOf, timeLimitOf, timeLimitText } from '../../../../src/core/plan/request/timeLimit.js';

it.each([
  ['90s', 90],
  ['30m', 1800],
  ['30min', 1800],
  ['1.5h', 5400],
  ['2d', 172_800],
])('%s is %d seconds', (text, seconds) => {
  expect(timeLimitOf(text, 'it')).toBe(seconds);
});

it.each(['', '30', '0.5s', '366d', '1h30m', 'h', '-1h'])('refuses "%s"', (text) => {
  expect(() => timeLimitOf(text, 'it')).toThrow(/it must be from 1s to 365d/);
});

it.each([
  [90, '90s'],
  [5400, '90m'],
  [7200, '2h'],
  [172_800, '2d'],
  [1.5, '1.5s'],
])('%d seconds are %s, which is read as the same', (limit, text) => {
  expect(timeLimitText(limit)).toBe(text);
  expect(timeLimitOf(text, 'it')).toBe(limit);
});

it('is in the command line for people, and kept on a profile without a price', () => {
  const asked = { profile: 'lab', words: ['true'], timeLimit: 90 };
  expect(commandLineOf(asked)).toBe('trainyard run lab --time-limit 90s -- true');
  const profile: Profile = { name: 'lab', kind: 'local' };
  expect(withKept(profile, { ...asked, budget: 2 })).toEqual(asked);
});

it('is the same for silence, which 0 leaves without a limit', () => {
  expect([silenceTimeoutOf('10m', 'it'), silenceTimeoutOf('0', 'it')]).toEqual([600, 0]);
  expect(() => silenceTimeoutOf('10', 'it')).toThrow(/it must be from 1s to 365d/);
  const asked = { profile: 'lab', words: ['true'], silenceTimeout: 600 };
  expect(commandLineOf(asked)).toBe('trainyard run lab --silence-timeout 10m -- true');
  expect(commandLineOf({ ...asked, silenceTimeout: 0 })).toContain('--silence-timeout 0 ');
  expect(withKept({ name: 'lab', kind: 'local' }, asked)).toEqual(asked);
});
