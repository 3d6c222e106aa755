// Which files a native build is known by, with git and without it.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { root } from '../../../scripts/lib/paths.mjs';
import { filesOfGit, filesOnDisk, sourcesHash } from '../../../scripts/native/sources.mjs';
import { temporaryFolder } from '../support/temporary.js';

const folders = temporaryFolder();
const all = (): boolean => true;
const names = ['native/.clang-tidy', 'native/agent/main.cpp', 'native/agent/système.h', 'native/build.txt'];

function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** The sources as an archive has them. */
function archive(): string {
  const folder = mkdtempSync(join(folders, 'archive-'));
  for (const name of names) write(folder, name, `text of ${name}`);
  return folder;
}

/** The sources as a clone has them. */
function clone(): string {
  const folder = archive();
  execFileSync('git', ['init', '-q'], { cwd: folder });
  write(folder, '.gitignore', '__pycache__/\n*.log\n');
  return folder;
}

beforeEach(() => {
  // Settings of this machine, such as a safe.directory, are out of the way.
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  vi.stubEnv('GIT_CEILING_DIRECTORIES', folders);
  return () => {
    vi.unstubAllEnvs();
  };
});

it('an archive without .git has the hash of a clone with the same sources', () => {
  const archived = archive();
  expect(filesOnDisk(archived)).toEqual(names);
  expect(sourcesHash('tools', all, archived)).toBe(sourcesHash('tools', all, clone()));
});

it('another source is another hash where git refuses a clone of another user', () => {
  const folder = clone();
  const before = sourcesHash('tools', all, folder);
  vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
  expect(sourcesHash('tools', all, folder)).toBe(before);
  write(folder, 'native/agent/main.cpp', 'something else');
  expect(sourcesHash('tools', all, folder)).not.toBe(before);
});

it('another source is another hash in an archive, also inside of a repository that ignores it', () => {
  const outer = mkdtempSync(join(folders, 'outer-'));
  execFileSync('git', ['init', '-q'], { cwd: outer });
  write(outer, '.gitignore', '*.h\n');
  const folder = join(outer, 'trainyard');
  for (const name of names) write(folder, name, '1');
  const before = sourcesHash('tools', all, folder);
  write(folder, 'native/agent/système.h', '2');
  expect(sourcesHash('tools', all, folder)).not.toBe(before);
});

it('what builds and Python leave among the sources does not count', () => {
  const folder = archive();
  const before = sourcesHash('tools', all, folder);
  for (const name of ['build/x.o', 'agent/__pycache__/x.pyc', 'agent/x.log']) {
    write(folder, `native/${name}`, '');
  }
  expect(sourcesHash('tools', all, folder)).toBe(before);
});

it('all that git knows of native is found without it', () => {
  const tracked = execFileSync('git', ['ls-files', '-z', 'native'], { cwd: root, encoding: 'utf8' });
  const found = new Set(filesOnDisk(root));
  const known = new Set(filesOfGit(root));
  // What was removed from the working tree is in neither.
  const missing = tracked.split('\0').filter((name) => known.has(name) && !found.has(name));
  expect(missing).toEqual([]);
  expect(found.size).toBeGreaterThan(100);
});

it('no sources are an error, not a hash', () => {
  const folder = mkdtempSync(join(folders, 'empty-'));
  mkdirSync(join(folder, 'native'));
  expect(() => sourcesHash('tools', all, folder)).toThrow('no sources below');
  expect(() => sourcesHash('tools', () => false, archive())).toThrow('no sources below');
});

it('a list for checks says why git gives none, and what to do', () => {
  expect(() => filesOfGit(archive())).toThrow(/not a git repository/);
  const folder = clone();
  expect(filesOfGit(folder)).toEqual(names);
  vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
  const advice = `git config --global --add safe.directory ${folder}`;
  expect(() => filesOfGit(folder)).toThrow(/dubious ownership/);
  expect(() => filesOfGit(folder)).toThrow(advice);
  vi.stubEnv('PATH', '/nonexistent');
  expect(() => filesOfGit(folder)).toThrow(/ENOENT/);
  rmSync(join(folder, '.git'), { recursive: true });
  expect(sourcesHash('tools', all, folder)).toMatch(/^[0-9a-f]{16}$/);
});

it.each(['tidy.mjs', 'native.mjs format:check', 'native.mjs format'])(
  '%s fails where git lists nothing',
  (command) => {
    const [script = '', ...words] = command.split(' ');
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/native', script), ...words], {
      encoding: 'utf8',
      env: { ...process.env, GIT_DIR: '/nonexistent' },
    });
    expect(stderr).toContain('error: git lists no files of native: fatal: not a git repository');
    expect(status).toBe(1);
  },
);
