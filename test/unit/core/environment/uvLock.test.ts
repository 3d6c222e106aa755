// The packages of a uv.lock, as a program that stands in for uv exports them. The real uv is in
// test/local/runs/lockedPackages.test.ts.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRequirements, type Requirements } from '../../../../src/core/environment/requirements.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const file = join(folder, 'a project/uv.lock');
const hash = `--hash=sha256:${'1'.repeat(64)}`;
const registry = (name: string, version: string, from: string): string =>
  `[[package]]\nname = "${name}"\nversion = "${version}"\nsource = { registry = "${from}" }\n`;
const lock =
  'version = 1\nrequires-python = ">=3.9"\n' +
  registry('six', '1.17.0', 'https://pypi.org/simple') +
  registry('torch', '2.9.1+cu126', 'https://download.pytorch.org/whl/cu126') +
  registry('torch', '2.9.1', 'https://example.org/another') +
  registry('here', '1', '../wheels') +
  '[[package]]\nname = "proj"\nversion = "0.1"\nsource = { editable = "." }\n' +
  '[[package]]\nname = "pkg"\nversion = "1"\nsource = { url = "https://example.org/pkg.zip" }\n';

/** Where uv does this, having written its words. `exported` is what it writes into its file. */
function read(exported: string, does = '', signal?: AbortSignal): Promise<Requirements> {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lock);
  writeFileSync(join(folder, 'exported'), exported);
  const script = `#!/bin/sh
printf '%s\\n' "$@" > '${folder}/words'
${does}
while [ "$1" != --output-file ]; do shift; done
cat '${folder}/exported' > "$2"
echo "$2" > '${folder}/to'
`;
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin/uv'), script);
  chmodSync(join(folder, 'bin/uv'), 0o755);
  return readRequirements(file, signal);
}

beforeEach(() => {
  vi.stubEnv('PATH', `${join(folder, 'bin')}:/usr/bin:/bin`);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a uv.lock', () => {
  it('is exported by uv, as it is locked, with the indexes of those packages', async () => {
    const found = await read(
      `# by uv\nsix==1.17.0 ; python_full_version < '3.12' \\\n    ${hash} \\\n    ${hash}\n    # via proj\ntorch==2.9.1+cu126 \\\n    ${hash}\npkg @ https://example.org/pkg.zip \\\n    ${hash}\n`,
    );
    expect(found.text.replace(/ +/g, ' ')).toBe(
      '--extra-index-url https://download.pytorch.org/whl/cu126\n' +
        `six==1.17.0 ; python_full_version < '3.12' ${hash} ${hash}\n` +
        `torch==2.9.1+cu126 ${hash}\npkg @ https://example.org/pkg.zip ${hash}\n`,
    );
    expect(found).toMatchObject({
      ...{ file, hashed: true, isWhole: true, fits: { python: '>=3.9' } },
      options: ['--extra-index-url https://download.pytorch.org/whl/cu126'],
    });
    const words = readFileSync(join(folder, 'words'), 'utf8').split('\n');
    expect(words).toEqual(expect.arrayContaining(['export', '--frozen', '--offline', '--no-default-groups']));
    expect(words[words.indexOf('--project') + 1]).toBe(dirname(file));
    expect(existsSync(dirname(readFileSync(join(folder, 'to'), 'utf8')))).toBe(false);
  });

  it.each([
    ['six==1.17.0\n', 'six has no hash'],
    [`six==1.17.1 \\\n  ${hash}\n`, 'uv names six, which this file lacks: it read another one'],
    [
      'pkg @ git+https://example.org/pkg@0123\n',
      'pkg comes from a repository, of which pip compares no hash',
    ],
    ['./lib\n', '"./lib" is a folder or file of this machine'],
    ['-e ../lib\n', 'is a folder or file of this machine'],
    [`here==1 \\\n  ${hash}\n`, 'packages come from no address that the nodes could follow'],
    ['# nothing\n', 'names no package'],
    [`pkg @ https://ada:secret@example.org/pkg.zip \\\n  ${hash}\n`, 'an address has a password'],
    ['six '.repeat(2_000_000), 'has 8.0 MB'],
  ])('%j of uv is refused before anything is sent', async (text, words) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'usage',
      what: expect.stringContaining(words) as string,
    });
  });

  it('says what uv said, and where there is none', async () => {
    const failed = read('', 'echo "warning: old" >&2; echo "error: no such project" >&2; exit 2');
    await expect(failed).rejects.toMatchObject({
      code: 'usage',
      what: `uv cannot export ${file}: error: no such project`,
    });
    await expect(read('', 'exit 3')).rejects.toMatchObject({
      what: `uv cannot export ${file}: it ended with 3`,
    });
    vi.stubEnv('PATH', '/nowhere');
    await expect(readRequirements(file)).rejects.toMatchObject({
      code: 'usage',
      what: expect.stringContaining('there is no uv on the PATH of this machine') as string,
      hint: expect.stringContaining('Install uv') as string,
    });
  });

  it('is given up where the start is given up', async () => {
    const abort = new AbortController();
    const reading = read('', 'sleep 60', abort.signal);
    setTimeout(() => {
      abort.abort();
    }, 200);
    await expect(reading).rejects.toMatchObject({ name: 'Cancelled' });
  });

  it('is no lock of uv where it is damaged, and uv is not started', async () => {
    await read(`six==1.17.0 \\\n  ${hash}\n`);
    for (const text of ['[[package]]\nname = 1\n', 'version = ', 'requires-python = "x"\n']) {
      writeFileSync(file, text);
      vi.stubEnv('PATH', '/nowhere');
      await expect(readRequirements(file)).rejects.toMatchObject({
        code: 'usage',
        what: expect.not.stringContaining('PATH') as string,
      });
    }
  });
});
