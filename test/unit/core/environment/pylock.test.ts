// The packages of a pylock.toml (PEP 751), as lines of pip with their hashes.
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRequirements, type Requirements } from '../../../../src/core/environment/requirements.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();

function read(text: string, name = 'pylock.toml'): Promise<Requirements> {
  writeFileSync(join(folder, name), text);
  return readRequirements(join(folder, name));
}

const [one, two, long] = ['1'.repeat(64), '2'.repeat(64), '3'.repeat(128)] as const;
const wheel = `wheels = [{ url = "https://example.org/six-1-py3-none-any.whl", hashes = { sha256 = "${one}" } }]`;
/** A lock of packages, each given by its lines after `[[packages]]`. */
const lock = (...packages: string[]): string =>
  `lock-version = "1.0"\ncreated-by = "test"\n${packages.map((lines) => `[[packages]]\n${lines}\n`).join('')}`;
const six = (more = ''): string => lock(`name = "six"\nversion = "1.17.0"\n${wheel}\n${more}`);

describe('a pylock.toml', () => {
  it('gives pip each package with its version, condition and hashes', async () => {
    const found = await read(
      `lock-version = "1.3"
created-by = "test"
requires-python = ">=3.9"
environments = ["sys_platform == 'linux'"]
[[packages]]
name = "numpy"
version = "2.4.6"
marker = 'python_full_version >= "3.11" and (sys_platform == "linux" or os_name == "nt")'
index = "https://pypi.org/simple/"
sdist = { url = "https://example.org/numpy.tar.gz", upload-time = 2026-01-01T00:00:00Z, hashes = { sha256 = "${two}" } }
wheels = [
  { url = "https://example.org/n1.whl", size = 1, hashes = { md5 = "00", sha256 = "${one.toUpperCase()}" } },
  { name = "n2.whl", url = "https://example.org/n2.whl", hashes = { sha512 = "${long}" } },
]
[[packages]]
name = "torch"
version = "2.9.1+cu126"
index = "https://download.pytorch.org/whl/cu126"
${wheel}
[[packages]]
name = "pkg"
archive = { url = "https://example.org/pkg.zip", subdirectory = "a/b", hashes = { sha256 = "${two}" } }
[[packages]]
name = "our-project"
directory = { path = ".", editable = true }
`,
      'pylock.gpu.toml',
    );
    expect(found).toEqual({
      file: join(folder, 'pylock.gpu.toml'),
      text:
        '--extra-index-url https://download.pytorch.org/whl/cu126\n' +
        `numpy==2.4.6 ; python_full_version >= '3.11' and (sys_platform == 'linux' or os_name == 'nt') --hash=sha256:${two} --hash=sha256:${one} --hash=sha512:${long}\n` +
        `torch==2.9.1+cu126 --hash=sha256:${one}\n` +
        `pkg @ https://example.org/pkg.zip#subdirectory=a/b --hash=sha256:${two}\n`,
      constraints: '',
      options: ['--extra-index-url https://download.pytorch.org/whl/cu126'],
      ...{ hashed: true, isWhole: true },
      fits: { python: '>=3.9', environments: ["sys_platform == 'linux'"] },
    });
  });

  it('leaves out the packages of extras and groups, but for the default ones', async () => {
    const marked = (name: string, marker: string): string =>
      `name = "${name}"\nversion = "1"\nmarker = ${JSON.stringify(marker)}\n${wheel}`;
    const packages = [
      marked('base', "'main' in dependency_groups"),
      marked('dev', "'dev' in dependency_groups"),
      marked('gpu', "'gpu' in extras or sys_platform == 'darwin'"),
      marked('no-gpu', "'gpu' not in extras and os_name == 'posix'"),
      'name = "tool"\nmarker = "\'dev\' in dependency_groups"\ndirectory = { path = "../tool" }',
    ];
    const found = await read(lock(...packages).replace('[[', 'default-groups = ["main"]\n[['));
    expect(found.text.replace(/ --hash=\S+/g, '')).toBe(
      "base==1\ngpu==1 ; sys_platform == 'darwin'\nno-gpu==1 ; os_name == 'posix'\n",
    );
  });

  it.each([
    ['created-by = "x"', 'is damaged: lock-version: '],
    [six().replace('1.0', '2.0'), 'is a lock of version 2.0, and version 1 is known'],
    [six().replace('1.0', '1.x'), 'is a lock of version 1.x'],
    ['lock-version = "1.0"', 'is damaged: packages: '],
    [lock(), 'is damaged: packages: '],
    [`packages = []\n${lock()}`, 'names no package'],
    [lock(`name = "six"\n${wheel}`), 'six has no version, or no files'],
    [lock('name = "six"\nversion = "1"'), 'six has no version, or no files'],
    [lock(`name = "six\\n-e x"\nversion = "1"\n${wheel}`), 'is damaged: packages[0].name: '],
    [lock(`name = "six"\nversion = "1 -e x"\n${wheel}`), 'is damaged: packages[0].version: '],
    [six('marker = "sys_platform ="'), 'the marker of six is not understood'],
    [six('marker = "(os_name == \'a\'"'), 'the marker of six is not understood'],
    [six(`marker = "${'('.repeat(5000)}"`), 'the marker of six is not understood'],
    [six('marker = "extra == \'gpu\'"'), 'the marker of six is not understood'],
    [six('marker = "os_name == \'a\u2028b\'"'), 'is no single line'],
    [six('index = "https://ada:secret@example.org/simple"'), 'an address has a password'],
    [six('index = "file:///wheels"'), 'packages come from no address that the nodes could follow'],
    [
      six('index = "https://example.org/${SECRET}"'),
      'packages come from no address that the nodes could follow',
    ],
    [
      six('index = "https://example.org\\n-e x"'),
      'packages come from no address that the nodes could follow',
    ],
    [six().replace('https://example.org', 'file:///wheels'), 'six comes from a folder of this machine'],
    [six().replace('url = "https:', 'path = "'), 'six comes from a folder of this machine'],
    [six().replace('sha256', 'md5'), 'six has a file without a hash that pip compares'],
    [six().replace(one, 'zz'), 'six has a file without a hash that pip compares'],
    [six().replace(one, `${one} --global-option=x`), 'six has a file without a hash'],
    [six().replace(`, hashes = { sha256 = "${one}" }`, ''), 'six has a file without a hash'],
    [
      lock('name = "six"\nvcs = { type = "git", url = "https://x", commit-id = "1" }'),
      'six comes from a repository',
    ],
    [lock('name = "lib"\ndirectory = { path = "../lib" }'), 'lib is a folder of this machine'],
    [
      lock(`name = "lib"\narchive = { path = "l.zip", hashes = { sha256 = "${one}" } }`),
      'lib comes from no address',
    ],
    [
      lock(
        `name = "l"\narchive = { url = "https://x/l.zip", subdirectory = "../..", hashes = { sha256 = "${one}" } }`,
      ),
      'l is in no folder of its archive',
    ],
    [`environments = ["3.12"]\n${six()}`, '"3.12" says of no Python whether it is one'],
    [`requires-python = "^3.12"\n${six()}`, '"^3.12" says of no Python whether it is one'],
  ])('%j is refused before anything is sent', async (text, words) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'usage',
      what: expect.stringContaining(words) as string,
    });
  });

  it.each(['poetry.lock', 'Pipfile.lock', 'settings.toml', 'pylock.a.b.toml', 'train.py.lock'])(
    'has one of the names of such files, and %s is none',
    async (name) => {
      await expect(read(six(), name)).rejects.toMatchObject({
        code: 'usage',
        what: `${basename(name)} is no file whose packages can be read`,
        hint: expect.stringContaining('uv.lock') as string,
      });
    },
  );
});
