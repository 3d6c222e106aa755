// Folders of the cache: whole or not there, for whoever makes them at the same time.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isPartial, madeOnce } from '../../../scripts/native/madeOnce.mjs';
import { pipInstall } from '../../../scripts/native/pip.mjs';
import { temporaryFolder } from '../support/temporary.js';

const folders = temporaryFolder();
const cache = (): string => mkdtempSync(join(folders, 'cache-'));

/** The id of a process that has ended. */
const endedPid = (): string =>
  execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim();

it('a folder is made once, and is there only when it is full', () => {
  const folder = join(cache(), 'parent/made');
  let times = 0;
  const fill = (temporary: string): void => {
    times += 1;
    expect(readdirSync(join(folder, '..')).filter((name) => !isPartial(name))).toEqual([]);
    writeFileSync(join(temporary, 'file'), 'text');
  };
  madeOnce(folder, fill);
  madeOnce(folder, fill);
  expect(times).toBe(1);
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('text');
  expect(readdirSync(join(folder, '..'))).toEqual(['made']);
});

it('a folder that someone else made meanwhile is taken', () => {
  const parent = cache();
  const folder = join(parent, 'made');
  madeOnce(folder, (temporary) => {
    writeFileSync(join(temporary, 'file'), 'second');
    mkdirSync(folder);
    writeFileSync(join(folder, 'file'), 'first');
  });
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('first');
  expect(readdirSync(parent)).toEqual(['made']);
});

it('what could not be filled is removed, and the error is told', () => {
  const parent = cache();
  const fill = (temporary: string): void => {
    writeFileSync(join(temporary, 'file'), '');
    throw new Error('no network');
  };
  expect(() => {
    madeOnce(join(parent, 'made'), fill);
  }).toThrow('no network');
  expect(readdirSync(parent)).toEqual([]);
});

it('an error other than a folder that is there is told', () => {
  const folder = join(cache(), 'made');
  expect(() => {
    madeOnce(folder, () => {
      writeFileSync(folder, 'a file');
    });
  }).toThrow('ENOTDIR');
});

it('what killed makers left is removed, what others are making stays', () => {
  const parent = cache();
  const dead = endedPid();
  const make = (name: string): string => {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, 'file'), '');
    return join(parent, name);
  };
  const left = [`a.partial-${dead}`, `a.partial-${hostname()}-${dead}`];
  const stays = [
    `a.partial-${process.ppid}`,
    `a.partial-${hostname()}-${process.ppid}`,
    `a.partial-far-${dead}`,
    'b',
  ];
  for (const name of [...left, ...stays]) make(name);
  const old = make('a.partial-far.off-1-77');
  const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
  utimesSync(old, twoDaysAgo, twoDaysAgo);
  madeOnce(join(parent, 'b'), () => {
    throw new Error('it is there');
  });
  expect(readdirSync(parent).sort()).toEqual([...stays].sort());
});

it('pip unpacks in the folder that it fills, whatever TMPDIR is', () => {
  const parent = cache();
  const python = join(parent, 'python');
  const script = `#!/bin/sh\necho "$TMPDIR" > ${parent}/tmpdir\necho "$@" > ${parent}/words\ntouch "$TMPDIR/wheel"\n`;
  writeFileSync(python, script, { mode: 0o755 });
  const folder = join(parent, 'made');
  mkdirSync(folder);
  pipInstall({ python, requirements: 'wheels.txt', folder, words: ['--no-deps'] });
  expect(readFileSync(join(parent, 'tmpdir'), 'utf8').startsWith(`${folder}/`)).toBe(true);
  expect(readFileSync(join(parent, 'words'), 'utf8')).toMatch(/^-m pip install .*--no-deps -r wheels\.txt$/m);
  expect(readdirSync(folder)).toEqual([]);
  expect(statSync(folder).isDirectory()).toBe(true);
});
