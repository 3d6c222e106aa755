import { expect, it } from 'vitest';
import { mirrorLeftOut } from '../../../../src/core/cluster/check/startChecks.js';

it('warns of a run that its mirror has no part in', () => {
  const profile = { name: 'lab', kind: 'ssh' as const, mirror: 'gpu2' };
  expect(mirrorLeftOut(profile, ['gpu1', 'gpu2'])).toEqual([]);
  expect(mirrorLeftOut({ name: 'lab', kind: 'ssh' }, ['gpu1'])).toEqual([]);
  expect(mirrorLeftOut(profile, ['gpu1', 'gpu3'])).toMatchObject(
    [{ name: 'mirror', host: 'gpu2', ok: true, warning: true, detail: /gpu2 has no part in this run/ }].map(
      (one) => ({ ...one, detail: expect.stringMatching(one.detail) as string }),
    ),
  );
});
