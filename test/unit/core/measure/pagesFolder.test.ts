// A report in a code folder stays at home when that folder is sent along with a run.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { takeSnapshot } from '../../../../src/core/code/snapshot.js';
import { writePages } from '../../../../src/core/measure/pagesFolder.js';
import { temporaryFolder } from '../../support/temporary.js';

let top: string;
let code: string;
beforeEach(() => {
  top = temporaryFolder();
  code = join(top, 'code');
  mkdirSync(code);
  writeFileSync(join(code, 'train.py'), '');
});
const sent = async (): Promise<string[]> => [
  ...(await takeSnapshot(code, { cache: join(top, 'cache') })).paths,
];

it('is in a folder that is not sent, also when it is written again', async () => {
  for (const text of ['one', 'two']) await writePages(join(code, 'sweep-lr'), { 'sweep.md': text });
  expect(await sent()).toEqual(['train.py']);
  expect(readdirSync(join(code, 'sweep-lr')).sort()).toEqual(['.trainyardignore', 'sweep.md']);
});

it('in a folder that was there before keeps nothing of that folder from being sent', async () => {
  await writePages(code, { 'sweep.md': 'one' });
  expect((await sent()).sort()).toEqual(['sweep.md', 'train.py']);
});
