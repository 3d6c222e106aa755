// The packages of a lock file, made by the real uv from an index of this test's own, on this machine:
// those of that index, although PyPI has some of the same name and version.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeWheel } from '../../sshd/support/wheels.js';
import { expectExit, runCli, temporaryFolder } from '../../support/harness.js';
import { listening } from '../../support/listening.js';
import { uvProgram } from '../../support/pinnedPython.js';

const folder = temporaryFolder('locked-packages');
const project = join(folder.path, 'project');
const programs = join(folder.path, 'bin');
const env = {
  TRAINYARD_HOME: join(folder.path, 'home'),
  PATH: `${programs}:${process.env['PATH'] ?? ''}`,
  UV_CACHE_DIR: join(folder.path, 'cache'),
  UV_PYTHON_DOWNLOADS: 'never',
};
let index: { port: number; close: () => Promise<void> };

/** Of PyPI's six, which has `six.__version__`, a release 1.0 is there too. */
const script = 'import six; print("made", hasattr(six, "__version__"), flush=True)';

beforeAll(async () => {
  for (const made of [env.TRAINYARD_HOME, project, programs]) mkdirSync(made, { recursive: true });
  symlinkSync(uvProgram(), join(programs, 'uv'));
  const profiles = [{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') }];
  writeFileSync(join(env.TRAINYARD_HOME, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
  const wheels = join(folder.path, 'wheels');
  const [, hash = ''] = /sha256:(\S+)/.exec(makeWheel(wheels, 'six', { 'six.py': 0 })) ?? [];
  const name = 'six-1.0-py3-none-any.whl';
  index = await listening(
    createServer(({ url = '' }, response) => {
      if (url === '/simple/six/') {
        response.setHeader('content-type', 'text/html');
        response.end(`<a href="/wheels/${name}#sha256=${hash}">${name}</a>`);
      } else if (url === `/wheels/${name}`) response.end(readFileSync(join(wheels, name)));
      else response.writeHead(404).end();
    }),
  );
  const text = `[project]
name = "proj"
version = "0.1"
requires-python = ">=3.9"
dependencies = ["six ; python_version > '3'"]
[dependency-groups]
dev = ["none-of-any-index ; python_version < '3'"]
[[tool.uv.index]]
url = "http://127.0.0.1:${index.port}/simple"
default = true
`;
  writeFileSync(join(project, 'pyproject.toml'), text);
  await uv('lock');
});
afterAll(async () => {
  await index.close();
  folder.remove();
});

/** While this process answers as the index. */
async function uv(...words: string[]): Promise<string> {
  const options = { cwd: project, env: { ...process.env, ...env }, timeout: 60_000 };
  return (await promisify(execFile)(uvProgram(), words, options)).stdout;
}

it.each(['uv.lock', 'pylock.toml'])('%s gives a run exactly the files whose hashes it has', async (name) => {
  if (name === 'pylock.toml') {
    writeFileSync(join(project, name), await uv('export', '--frozen', '--no-dev', '--format', name));
  }
  const dir = join(folder.path, `of-${name}`);
  const words = ['run', 'local', '--run-dir', dir, '--requirements', name, '--', 'python3', '-c', script];
  const ended = await runCli(words, { env, cwd: project });
  expectExit(ended, 0);
  expect(ended.stdout).toContain('made False');
  expect(JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8'))).toMatchObject({
    environment: {
      requirements: join(project, name),
      hashed: true,
      packages: ['six==1.0'],
      options: [`--extra-index-url http://127.0.0.1:${index.port}/simple`],
    },
  });
});

it('a file with another hash than that of the lock is not installed', async () => {
  const text = await uv('export', '--frozen', '--no-dev', '--format', 'pylock.toml');
  const changed = text.replace(/(?<=sha256 = ")[0-9a-f]{64}/g, '0'.repeat(64));
  writeFileSync(join(project, 'pylock.changed.toml'), changed);
  const words = ['run', 'local', '--requirements', 'pylock.changed.toml', '--', 'python3', '-c', script];
  const ended = await runCli(words, { env, cwd: project });
  expectExit(ended, 4);
  expect(ended.stderr).toMatch(/the packages of pylock\.changed\.toml.* DO NOT MATCH THE HASHES/);
});

it('packages for another Python than that of the node are no start', async () => {
  const other = join(folder.path, 'other');
  mkdirSync(other, { recursive: true });
  const text = '[project]\nname = "other"\nrequires-python = ">=3.99"\ndependencies = ["six"]\n';
  writeFileSync(join(other, 'pyproject.toml'), text);
  const words = ['run', 'local', '--requirements', 'pyproject.toml', '--', 'python3', '-c', script];
  const ended = await runCli(words, { env, cwd: other });
  expectExit(ended, 4);
  expect(ended.stderr).toMatch(
    / has Python 3\.\S+, and the packages of pyproject\.toml are for Python >=3\.99/,
  );
});
