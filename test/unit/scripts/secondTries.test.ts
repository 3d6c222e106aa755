// Second tries of test files: what they say, and what they must not hide.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import type { Counts } from '../../../scripts/lib/counts.mjs';
import { root } from '../../../scripts/lib/paths.mjs';
import { temporaryFolder } from '../support/temporary.js';

const folders = temporaryFolder();

const steady = "test('steady', () => {});\n";
/** Fails once, and leaves a file then. */
const unsteady = `
import { existsSync, writeFileSync } from 'node:fs';
const seen = new URL('./seen', import.meta.url);
test('unsteady', () => {
  if (existsSync(seen)) return;
  writeFileSync(seen, '');
  throw new Error('the first time');
});
`;
const rejecting = `
test('rejecting', async () => {
  void Promise.reject(new Error('nobody waits for this'));
  await new Promise((resolve) => setTimeout(resolve, 50));
});
`;

/** What the suite of these files counts. */
function countsOf(files: Record<string, string>): Counts {
  const folder = mkdtempSync(join(folders, 'suite-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.mjs`), text);
  const config = join(folder, 'vitest.config.mjs');
  const test = { globals: true, include: ['*.test.mjs'] };
  writeFileSync(config, `export default ${JSON.stringify({ root: folder, test })};\n`);
  const runner = pathToFileURL(join(root, 'scripts/test/vitest.mjs')).href;
  const counts = join(folder, 'counts.json');
  const script = `
    import { writeFileSync } from 'node:fs';
    import { vitest } from '${runner}';
    writeFileSync('${counts}', JSON.stringify(vitest('${config}', [])));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
  return JSON.parse(readFileSync(counts, 'utf8')) as Counts;
}

const minute = 60_000;

it('a test that passes by itself only is named as unsteady', { timeout: minute }, () => {
  const counts = countsOf({ steady, unsteady });
  expect(counts).toMatchObject({ passed: 2, failed: 0, skipped: 0 });
  expect(counts.unsteady).toEqual([expect.stringMatching(/unsteady\.test\.mjs: unsteady$/)]);
});

it('a second try does not hide an unhandled error of another file', { timeout: minute }, () => {
  const counts = countsOf({ steady, unsteady, rejecting });
  expect(counts).toMatchObject({ passed: 3, failed: 1, skipped: 0 });
  expect(counts.unsteady).toHaveLength(1);
});
