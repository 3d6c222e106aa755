// What of a requirements file goes to the nodes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertDecided } from '../../../../src/core/environment/lines.js';
import { readRequirements, type Requirements } from '../../../../src/core/environment/requirements.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();

/** Of a file with this text, beside others. */
function read(text: string | Buffer, others: Record<string, string> = {}): Promise<Requirements> {
  for (const [name, content] of Object.entries(others)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  writeFileSync(join(folder, 'requirements.txt'), text);
  return readRequirements(join(folder, 'requirements.txt'));
}

describe('a requirements file', () => {
  it('is one text without comments, with what it includes in its place', async () => {
    const found = await read(
      '# ours\r\nnumpy >= 2 ; python_version > "3.8" # why\r\n-r more/base.txt\n\npandas \\\n  ==2.3\n# in C:\\data\\\nnumba\n',
      { 'more/base.txt': '--requirement="deeper/x.txt"\nsix\n', 'more/deeper/x.txt': 'attrs\n' },
    );
    expect(found.text).toBe('numpy >= 2 ; python_version > "3.8"\nattrs\nsix\npandas    ==2.3\nnumba\n');
    expect(found).toMatchObject({ constraints: '', options: [], hashed: false });
    expect(found.file).toBe(join(folder, 'requirements.txt'));
  });

  it('has its constraints beside it, and the options by which the nodes find packages', async () => {
    const text =
      '-c limits.txt\n--extra-index-url https://download.pytorch.org/whl/cu126\n--pre\ntorch\n-f /shared/wheels\n';
    const found = await read(text, { 'limits.txt': 'numpy<3\n' });
    expect(found.constraints).toBe('numpy<3\n');
    expect(found.options).toEqual([
      '--extra-index-url https://download.pytorch.org/whl/cu126',
      '-f /shared/wheels',
    ]);
    expect(found.text).toContain('--pre\ntorch\n');
  });

  it('may have hashes, variables of the nodes in place of passwords, and names of users', async () => {
    expect((await read(`six==1.17.0 \\\n    --hash=sha256:${'0'.repeat(64)}\n`)).hashed).toBe(true);
    const line = '--index-url https://${USER}:${TOKEN}@pypi.example/simple';
    expect((await read(`${line}\nsix\n`)).options).toEqual([line]);
    const ssh = 'pkg @ git+ssh://git@github.com/ada/pkg@v1';
    expect((await read(`${ssh}\n`)).text).toBe(`${ssh}\n`);
    expect((await read('pkg @ https://example.org/a@b/pkg-1-py3-none-any.whl\n')).text).toContain('a@b');
  });

  it.each([
    ['', 'names no package'],
    ['# nothing\n--pre\n', 'names no package'],
    ['-e .\n', '"-e ." is a folder or file of this machine'],
    ['./pkg[extra]\n', 'is a folder or file of this machine'],
    ['pkg-1-py3-none-any.whl\n', 'is a folder or file of this machine'],
    ['~/pkg\n', 'is a folder or file of this machine'],
    ['C:\\pkg\n', 'is a folder or file of this machine'],
    ['file:///pkg\n', 'is a folder or file of this machine'],
    ['libs/pkg\n', 'is a folder or file of this machine'],
    ['pkg @ file:///home/ada/pkg\n', 'is a folder or file of this machine'],
    ['machine github.com login ada\n', 'is no requirement'],
    ['six = 1\n', 'is no requirement'],
    ['pkg @ git+https://${TOKEN}@github.com/ada/pkg\n', 'has a variable'],
    ['six --config-settings=a=b\n', 'has the option --config-settings=a=b'],
    ['six==1 -C--build-option=x\n', 'has the option -C--build-option=x'],
    [`six @ https:${'//:'.repeat(30_000)}\n`, 'is too long for a line of pip'],
    ['-c https://example.org/limits.txt\nsix\n', 'are not followed'],
    ['--pre --editable .\n', '"--editable ." is a folder or file of this machine'],
    ['https://example.org/six.whl\n', 'is a folder or file of this machine'],
    ['-f wheels\nsix\n', '"-f wheels" is a folder of this machine'],
    ['--find-links=./wheels\nsix\n', 'is a folder of this machine'],
    ['--user\nsix\n', '"--user" is an option that the nodes do not take'],
    ['--index-url https://ada:secret@pypi.example/simple\nsix\n', 'an address has a password'],
    ['pkg @ git+https://ghp_12@github.com/ada/pkg\n', 'an address has a password'],
    ['-r requirements.txt\nsix\n', 'includes itself'],
    ['-r none.txt\nsix\n', 'cannot be read: '],
    ['six\rattrs\n', 'is no single line'],
    ['six\u2028-e x\n', 'is no single line'],
    [Buffer.from([0xff, 0xfe, 0x41]), 'is no text in UTF-8'],
    ['six\n'.repeat(300_000), 'has 1.2 MB, which is too much for a file of packages'],
  ])('%j is refused before anything is sent', async (text, words) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'usage',
      what: expect.stringContaining(words) as string,
    });
  });

  it('may have several options on a line, and options beside its constraints', async () => {
    const nightly = '--pre --extra-index-url https://download.pytorch.org/whl/nightly/cu128';
    const found = await read(`${nightly}\n-c limits.txt\ntorch\n--find-links  /wheels\n`, {
      'limits.txt': '--extra-index-url https://example.org/simple\nnumpy<3\n',
    });
    expect(found.options).toEqual([
      '--extra-index-url https://download.pytorch.org/whl/nightly/cu128',
      '--find-links  /wheels',
      '--extra-index-url https://example.org/simple',
    ]);
  });

  it.each(['torch==2.9.1+cu126', 'Pkg.Name_x @ git+https://example.org/pkg@0123#subdirectory=a'])(
    'takes %s of a node for a package',
    (line) => {
      expect(() => {
        assertDecided(['--extra-index-url https://example.org'], [line], 'gpu1');
      }).not.toThrow();
    },
  );

  it.each([
    ['-r /etc/passwd', ''],
    ['six==1\nfrom here', ''],
    ['x @ https://a b', ''],
    ['six==1 --global-option=x', ''],
    ['six==1', '--editable x'],
    ['six==1', '--pre\n-e x'],
  ])('does not take %j and %j of a node', (line, option) => {
    expect(() => {
      assertDecided(option === '' ? [] : [option], [line], 'gpu1');
    }).toThrow('gpu1 says that');
  });

  it('may have any name but that of another kind of file', async () => {
    for (const name of ['requirements-dev.lock', 'needs', 'toml']) {
      writeFileSync(join(folder, name), 'six==1\n');
      expect((await readRequirements(join(folder, name))).text).toBe('six==1\n');
    }
  });

  it('says nothing of a password', async () => {
    const failed = read('--index-url https://ada:secret@pypi.example/simple\nsix\n');
    await expect(failed).rejects.not.toThrow(/secret/);
  });
});
