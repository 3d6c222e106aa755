// What the form begins with for "Run again with changes…".
import { expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { againOf } from '../../../../src/ui/form/formSources.js';
import { madeEntry } from '../../support/madeRuns.js';

const profile: Profile = { name: 'local', kind: 'local' };

it('a run like another one has its command and its name, and a run without a name has none', () => {
  const entry = madeEntry({ id: 'r1', argv: ['train', '--model', 'mlp'], seconds: 10 });
  const about = { name: 'larger batch', tags: ['baseline'], notes: 'as in the paper' };
  const asked = againOf(profile, { ...entry, about });
  expect(asked).toMatchObject({ profile: 'local', name: 'larger batch', tags: ['baseline'] });
  expect(asked?.words.slice(0, 3)).toEqual(['train', '--model', 'mlp']);
  expect(againOf(profile, { ...entry, about: { ...about, name: '' } })).not.toHaveProperty('name');
  const limited = { ...entry.run!, limits: { ...entry.run!.limits, timeLimit: 90 } };
  expect(againOf(profile, { ...entry, run: limited })).toMatchObject({ timeLimit: 90 });
  const own = { ...entry.run!, program: 'command' as const, share: 'out' };
  const silent = { ...own, limits: { ...own.limits, silenceTimeout: 60 } };
  expect(againOf(profile, { ...entry, run: silent })).toMatchObject({ silenceTimeout: 60, share: 'out' });
  expect(againOf(profile, { ...entry, run: null })).toBeUndefined();
});
