// What texts and comments name is there: scripts by their path, and npm's scripts by their name.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
// This file and layers.test.ts name files that are not there.
const files = execFileSync(
  'git',
  ['ls-files', '-z', '.ci', 'docs', 'native', 'scripts', 'src', 'test', '*.md'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\0')
  .filter((name) => /(\.(ts|mts|mjs|cjs|py|md|h|cpp|txt)|\/run)$/.test(name))
  .filter((name) => !/^test\/unit\/(layers|paths)\.test\.ts$/.test(name) && existsSync(join(root, name)));

const namedIn = (pattern: RegExp): { file: string; name: string }[] =>
  files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, name = '']) => ({ file, name })),
  );

it('every script that a file names is there', () => {
  const named = namedIn(/(?<![\w/.])(scripts\/[\w/-]+\.(?:mjs|cjs|py))\b/g);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ name }) => !existsSync(join(root, name)))).toEqual([]);
});

it('every script of npm that a file names is in package.json', () => {
  const named = namedIn(/npm run (?:--silent |-s )?([a-z][\w:-]*)/g);
  expect(named.length).toBeGreaterThan(50);
  const whole = named.map(({ file, name }) => ({ file, name: name.replace(/:$/, '') }));
  // A word in capitals stands for any of them: `bench:NAME`.
  const wrong = whole.filter(({ name }) => !(name in manifest.scripts) && !/:[A-Z]+$/.test(name));
  expect(wrong).toEqual([]);
});
