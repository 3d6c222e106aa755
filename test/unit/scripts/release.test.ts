import { describe, expect, it } from 'vitest';
import { obstacles } from '../../../scripts/build/release.mjs';

const ready = {
  manifest: { name: 'trainyard', version: '1.2.0', icon: 'media/icon.png', repository: { url: 'x' } },
  changelog: '# Changes\n\n## 1.2.0 (2026-11-29)\n\n### Trainer\n\n## 1.1.0 (2026-10-01)\n',
  changed: '',
  tags: ['v1.2.0'],
  iconWidth: 256,
};

describe('what stands in the way of a release', () => {
  it('is nothing, of a tagged commit whose changes have a date', () => {
    expect(obstacles(ready)).toEqual([]);
  });

  it.each([
    ['a changed file', { changed: ' M src/a.ts' }, /not committed/],
    ['a tag of another version', { tags: ['v1.1.0'] }, /git tag v1\.2\.0/],
    ['a heading without a date', { changelog: '## 1.2.0 (unreleased)\n' }, /"1\.2\.0 \(unreleased\)"/],
    ["an older version's heading", { changelog: '## 1.1.0 (2026-10-01)\n' }, /has to be 1\.2\.0/],
    ['no heading at all', { changelog: '# Changes\n' }, /has to be 1\.2\.0/],
    ['no repository', { manifest: { name: 'trainyard', version: '1.2.0' } }, /"repository"/],
    ['no icon', { iconWidth: undefined }, /128 pixels/],
    ['a small icon', { iconWidth: 64 }, /128 pixels/],
  ])('is %s', (_, change, line) => {
    const found = obstacles({ ...ready, ...change });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(line);
  });
});
