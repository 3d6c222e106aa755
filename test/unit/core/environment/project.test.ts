// The packages of a pyproject.toml, and when somebody else has to say what they are.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesDependencies } from '../../../../src/core/environment/kinds.js';
import { readRequirements, type Requirements } from '../../../../src/core/environment/requirements.js';
import { temporaryFolder } from '../../support/temporary.js';

const file = join(temporaryFolder(), 'pyproject.toml');

function read(text: string): Promise<Requirements> {
  writeFileSync(file, text);
  return readRequirements(file);
}

/** Of a project with these dependencies, and what follows them. */
const project = (dependencies: readonly string[], more = ''): string =>
  `[project]\nname = "My_Proj"\ndependencies = ${JSON.stringify(dependencies)}\n${more}`;

describe('a pyproject.toml', () => {
  it('names the dependencies of its project, and the Python that it is for', async () => {
    const more = `requires-python = ">=3.10"
[project.optional-dependencies]
gpu = ["cupy"]
[dependency-groups]
dev = ["pytest"]
[[tool.uv.index]]
url = "https://example.org/simple"
explicit = true
[tool.uv.sources]
cupy = { index = "other" }
torch = [{ index = "cu126", extra = "gpu" }]
[tool.ruff]
line-length = 100`;
    const lines = [
      'numpy >= 2',
      " torch[extra]~=2.9 ; sys_platform == 'linux'",
      'pkg @ git+https://example.org/p@v1',
    ];
    expect(await read(project(lines, more))).toEqual({
      file,
      text: `numpy >= 2\ntorch[extra]~=2.9 ; sys_platform == 'linux'\npkg @ git+https://example.org/p@v1\n`,
      ...{ constraints: '', options: [], hashed: false, isWhole: false },
      fits: { python: '>=3.10' },
    });
  });

  it.each([
    ['', 'has no dependencies in [project]'],
    ['[project]\nname = "p"\n', 'has no dependencies in [project]'],
    [project([]), 'names no package'],
    [
      '[project]\nname = "p"\ndynamic = ["version", "dependencies"]\n',
      'leaves its dependencies to the build',
    ],
    ['[tool.poetry.dependencies]\npython = "^3.10"\ntorch = "^2"\n', 'in the form of Poetry alone'],
    [project(['six', 'my-proj[gpu]']), '"my-proj[gpu]" is the project itself'],
    [
      project(['torch'], '[tool.uv.sources]\nTorch = { index = "cu126" }'),
      "only the project's tool knows where torch",
    ],
    [project(['six'], '[tool.uv.sources]\nsix = [{ git = "https://example.org/six" }]'), 'knows where six'],
    [project(['six'], '[tool.poetry.dependencies]\nsix = { source = "own" }'), 'knows where six'],
    [
      project(['six'], '[[tool.uv.index]]\nurl = "https://example.org"'),
      'cannot follow "index" of [tool.uv]',
    ],
    [
      project(['six'], '[tool.uv]\noverride-dependencies = ["six==1"]'),
      'cannot follow "override-dependencies"',
    ],
    [project(['six'], '[tool.uv]\nresolution = "lowest"'), 'cannot follow "resolution" of [tool.uv]'],
    [project(['six -C--build-option=x']), 'is no requirement'],
    [project([`six==1 ; ${'/'.repeat(90_000)}`]), 'is too long for a line of pip'],
    [project(['six'], '[[tool.poetry.source]]\nname = "own"'), 'cannot follow "source" of [tool.poetry]'],
    [project(['pkg @ file:///home/ada/pkg']), 'is a folder or file of this machine'],
    [project(['./pkg']), '"./pkg" is a folder or file of this machine'],
    [project(['pkg @ https://ada:secret@example.org/pkg.zip']), 'an address has a password'],
    [project(['--extra-index-url https://example.org']), 'is no requirement'],
    [project(['--index-url https://ada:secret@example.org']), 'an address has a password'],
    [project(['-r /etc/passwd']), '"-r /etc/passwd" is an option that the nodes do not take'],
    [project(['six\n--index-url https://example.org']), 'is no single line'],
    [project(['six\u2028--index-url https://example.org']), 'is no single line'],
    [project(['six==1\u0085-e x']), 'is no single line'],
    [project(['six==1 \\', 'attrs']), 'is no single line'],
    [project(['six # ours']), 'is no requirement'],
    [project(['six = "1"']), 'is no requirement'],
    [project(['six'], 'requires-python = "three"'), '"three" says of no Python whether it is one'],
    ['[project]\ndependencies = "six"\n', 'is damaged: project.dependencies: '],
    ['[project]\ndependencies = [1]\n', 'is damaged: project.dependencies[0]: '],
    ['[project\n', 'is no TOML: line '],
    ['a = '.repeat(9), 'is no TOML: line 1'],
    [`a = ${'['.repeat(90_000)}`, 'is no TOML: line 1'],
  ])('%j is refused before anything is sent', async (text, words) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'usage',
      what: expect.stringContaining(words) as string,
    });
  });

  it('is offered where it names packages', () => {
    expect(namesDependencies(project(['six']))).toBe(true);
    expect(namesDependencies('[tool.ruff]\nline-length = 100\n')).toBe(false);
    expect(namesDependencies('[tool.poetry.dependencies]\npython = "^3.10"\n')).toBe(false);
  });
});
