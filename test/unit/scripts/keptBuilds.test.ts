// Builds in the user's cache: only what was made from the sources that it is kept under.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { restoreOrMake } from '../../../scripts/native/keptBuilds.mjs';
import { temporaryFolder } from '../support/temporary.js';

const folders = temporaryFolder();

/** A clone whose one source is `source`, with a compiler that copies it. */
function project(): {
  folder: string;
  source: string;
  build: (during?: () => void) => boolean;
  built: () => string;
} {
  const here = mkdtempSync(join(folders, 'project-'));
  const folder = join(here, 'cache');
  const binaries = join(here, 'bin');
  const source = join(here, 'source');
  const build = (during = (): void => undefined): boolean =>
    restoreOrMake({
      folder,
      binaries,
      sources: () => readFileSync(source, 'utf8'),
      make: () => {
        const text = readFileSync(source, 'utf8');
        during();
        mkdirSync(binaries, { recursive: true });
        for (const name of ['agent', 'test_agent']) writeFileSync(join(binaries, name), text);
      },
    });
  return { folder, source, build, built: () => readFileSync(join(binaries, 'agent'), 'utf8') };
}

it('a build is restored for the same sources, without its test programs', () => {
  const { folder, source, build, built } = project();
  writeFileSync(source, 'one');
  expect(build()).toBe(false);
  writeFileSync(source, 'two');
  expect(build()).toBe(false);
  writeFileSync(source, 'one');
  expect(build()).toBe(true);
  expect(built()).toBe('one');
  expect(readdirSync(join(folder, 'one'))).toEqual(['agent']);
});

it('a build during which a source changed is not kept', () => {
  const { folder, source, build, built } = project();
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  mkdirSync(folder);
  writeFileSync(source, 'one');
  build(() => {
    writeFileSync(source, 'two');
  });
  expect(readdirSync(folder)).toEqual([]);
  expect(said).toHaveBeenCalledWith(expect.stringContaining('a source changed during the build'));
  expect(build()).toBe(false);
  expect(built()).toBe('two');
});

it('a build that someone else kept meanwhile is no error', () => {
  const { folder, source, build } = project();
  writeFileSync(source, 'one');
  const other = (): void => {
    mkdirSync(join(folder, 'one'), { recursive: true });
    writeFileSync(join(folder, 'one/agent'), 'one');
  };
  expect(build(other)).toBe(false);
  expect(build()).toBe(true);
});

it('the five newest builds are kept; one that is being stored is none of them', () => {
  const { folder, source, build } = project();
  const storing = `x.partial-${process.ppid}`;
  mkdirSync(join(folder, storing), { recursive: true });
  for (let n = 1; n <= 7; n += 1) {
    writeFileSync(source, `build${n}`);
    build();
    utimesSync(join(folder, `build${n}`), n, n);
  }
  expect(readdirSync(folder).sort()).toEqual(['build3', 'build4', 'build5', 'build6', 'build7', storing]);
});
