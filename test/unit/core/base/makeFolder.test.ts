import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeFolder } from '../../../../src/core/base/makeFolder.js';

const base = mkdtempSync(join(tmpdir(), 'trainyard-folder-'));
afterAll(() => {
  rmSync(base, { recursive: true });
});

it('makes what is missing, and takes what is there', async () => {
  const path = join(base, 'a', 'b', 'c');
  await makeFolder(path);
  await makeFolder(path);
  expect(statSync(path).isDirectory()).toBe(true);
});

it('names the file that is in the way, at the end or above it', async () => {
  const file = join(base, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'x', 'y')]) {
    await expect(makeFolder(path)).rejects.toMatchObject({
      code: 'preflight',
      message: `${file} is a file. Name a folder.`,
    });
  }
});

it('refuses a link that leads to nothing, and does not make what it leads to', async () => {
  const link = join(base, 'link');
  symlinkSync(join(base, 'nowhere'), link);
  await expect(makeFolder(join(link, 'x'))).rejects.toThrow(`${link} leads to nothing`);
  expect(existsSync(join(base, 'nowhere'))).toBe(false);
});

it.skipIf(process.platform !== 'linux')('ends at once where the system makes no folders', async () => {
  const refused = {
    code: 'preflight',
    what: expect.stringContaining('/proc/trainyard/x cannot be made') as string,
  };
  await expect(makeFolder('/proc/trainyard/x')).rejects.toMatchObject(refused);
});

it.skipIf(process.getuid?.() === 0)('says where nobody may write', async () => {
  await expect(makeFolder('/usr')).rejects.toThrow('/usr cannot be written in');
});
