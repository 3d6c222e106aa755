// The packages for each platform, read as they lie in their archives: what they have, and what none
// may have.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeBytes, judgeNames } from '../../scripts/build/packageContents.mjs';
import { targets } from '../../scripts/build/packageTargets.mjs';
import { temporaryFolder } from '../support/harness.js';
import { root } from '../editor/support/workbench.js';

const folder = temporaryFolder('packages');
const only = targets.filter((target) => target !== 'universal'); // vsix.test.ts installs that one

/** Of a program or library: its system and processor, by the first bytes. */
function platformOf(bytes: Buffer): string {
  if (bytes.subarray(0, 4).toString('latin1') === '\x7fELF') {
    return { 0x3e: 'linux-x64', 0xb7: 'linux-arm64' }[bytes.readUInt16LE(18)] ?? 'linux';
  }
  if (bytes.readUInt32LE(0) === 0xfeedfacf) {
    return { 0x01000007: 'darwin-x64', 0x0100000c: 'darwin-arm64' }[bytes.readUInt32LE(4)] ?? 'darwin';
  }
  if (bytes.subarray(0, 2).toString('latin1') === 'MZ') {
    return { 0x8664: 'win32-x64' }[bytes.readUInt16LE(bytes.readUInt32LE(0x3c) + 4)] ?? 'win32';
  }
  return 'no program';
}

/** Unpacks a package and returns its files, by the names they have here. */
function unpack(target: string): Map<string, Buffer> {
  const to = join(folder.path, target);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const vsix = join(root, 'build', `trainyard-${target}-${version}.vsix`);
  execFileSync('python3', ['-m', 'zipfile', '-e', vsix, to]);
  const here = join(to, 'extension');
  const renamed: Record<string, string> = {
    'readme.md': 'README.md',
    'changelog.md': 'CHANGELOG.md',
    'LICENSE.txt': 'LICENSE',
  };
  const names = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(here, name)).isFile(),
  );
  return new Map(names.map((name) => [renamed[name] ?? name, readFileSync(join(here, name))] as const));
}

beforeAll(() => {
  const words = only.flatMap((target) => ['--target', target]);
  execFileSync(process.execPath, [join(root, 'scripts/build/package.mjs'), ...words], {
    cwd: root,
    stdio: 'pipe',
  });
}, 400_000);
afterAll(() => {
  folder.remove();
  execFileSync(process.execPath, [join(root, 'scripts/build/build.mjs')], { cwd: root }); // packaging left minified bundles
}, 120_000);

describe.each(only)('the package for %s', (target) => {
  it('has what belongs in it, for its platform, and tells nothing of this machine', () => {
    const files = unpack(target);
    expect(judgeNames(target, [...files.keys()])).toEqual([]);
    expect([...files].flatMap(([name, bytes]) => judgeBytes(name, bytes))).toEqual([]);
    const programs = [...files].flatMap(([name, bytes]) => {
      const platform = /\.(node|so)$|\/bin\/|spawn-helper$/.test(name) ? platformOf(bytes) : undefined;
      return platform === undefined ? [] : [{ name, platform }];
    });
    const ofNodes = programs.filter(({ name }) => /^dist\/(bin|cuda|cuda12)\//.test(name));
    expect(ofNodes.length).toBe(5); // three programs, and a CUDA library for either CUDA
    expect(new Set(ofNodes.map(({ platform }) => platform))).toEqual(new Set(['linux-x64']));
    const ofPty = programs.filter(({ name }) => name.startsWith('dist/prebuilds/'));
    expect(new Set(ofPty.map(({ platform }) => platform))).toEqual(new Set([target]));
    rmSync(join(folder.path, target), { recursive: true });
  });
});

describe('what is looked for', () => {
  it('is found: strangers, gaps, maps, paths of this machine, secrets', () => {
    expect(judgeNames('linux-x64', ['dist/bin/agent', 'test/unit/a.test.ts', 'dist/lazy.js.map'])).toEqual(
      expect.arrayContaining([
        'test/unit/a.test.ts does not belong in the package',
        'dist/lazy.js.map does not belong in the package',
        'dist/prebuilds/linux-x64/pty.node is missing from the package',
      ]),
    );
    expect(judgeNames('darwin-x64', ['dist/prebuilds/win32-x64/conpty.node'])).toContain(
      'dist/prebuilds/win32-x64/conpty.node does not belong in the package',
    );
    const key = `-----BEGIN OPENSSH PRIVATE KEY-----\n${'A'.repeat(60)}\n`;
    const bad = [`at ${root}/src`, '//# sourceMappingURL=a.js.map', key, `npm_${'a'.repeat(36)}`];
    for (const text of bad) expect(judgeBytes('dist/lazy.js', Buffer.from(text))).toHaveLength(1);
    expect(judgeBytes('dist/lazy.js', Buffer.from('-----BEGIN OPENSSH PRIVATE KEY-----'))).toEqual([]);
  });
});
