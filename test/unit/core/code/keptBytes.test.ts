// What was read of files lies close together, and is theirs to the byte.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeptBytes } from '../../../../src/core/code/keptBytes.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kept-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function fileOf(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

it('what is kept stays as it was read, also past the end of a piece', () => {
  const kept = new KeptBytes();
  const texts = [...Array(7).keys()].map((index) => String(index).repeat(900_000));
  texts.forEach((text, index) => {
    kept.keep(String(index), kept.read(fileOf(String(index), text), text.length));
  });
  texts.forEach((text, index) => {
    expect(kept.get(String(index))?.toString() === text).toBe(true);
  });
});

it('what is not kept makes room for the next file', () => {
  const kept = new KeptBytes();
  kept.read(fileOf('a', 'first'), 5);
  kept.keep('b', kept.read(fileOf('b', 'second'), 6));
  expect(kept.get('b')?.toString()).toBe('second');
  expect(kept.get('a')).toBeUndefined();
});

it.each([
  ['has grown', 3],
  ['has shrunk', 20],
])('a file that %s shows by its length', (_, size) => {
  expect(new KeptBytes().read(fileOf('c', 'changed'), size)).not.toHaveLength(size);
});

it('a large file is read as one, and an empty one is empty', () => {
  const kept = new KeptBytes();
  const large = 'x'.repeat(5 << 20);
  expect(kept.read(fileOf('large', large), large.length).toString() === large).toBe(true);
  expect(kept.read(fileOf('empty', ''), 0)).toHaveLength(0);
});
