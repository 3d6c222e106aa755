// The set-up program's environments of Python packages, and what this machine fetches for them.
// The packages are made here, so that nothing depends on an index.
import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { fetchOwnWheels } from '../../../src/core/setup/wheels.js';
import { askSetUp, program, pythonWords } from '../support/setUpProgram.js';
import { makeWheel } from '../support/wheels.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-environment-'));
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});
const wheels = join(dir, 'wheels');
const beta = makeWheel(wheels, 'beta');
const alpha = makeWheel(wheels, 'alpha', { 'alpha.py': 0 }, ['beta']);

interface Asked {
  python: string;
  version: number[];
  flags: string;
  markers: Record<string, string>;
}
const own = askSetUp('environment-python', {}).result as Asked;
const minor = own.version.slice(0, 2).join('.');
const shared = { ...own, markers: undefined, wheels, what: 'the packages of r.txt', options: [] };

const root = join(dir, 'environments');
const lock = (key: string, requirements: string, more: object = {}): { name: string; lines: string[] } => {
  const answer = askSetUp('environment-lock', { ...shared, dir: root, key, requirements, ...more });
  if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
  return answer.result as ReturnType<typeof lock>;
};
const make = (name: string, lines: string[], more: object = {}): ReturnType<typeof askSetUp> => {
  const requirements = lines.map((line) => `${line}\n`).join('');
  const params = { ...shared, dir: join(root, name), lines, requirements, isWhole: true, ...more };
  return askSetUp('environment', params);
};

describe('the environment of an own program', () => {
  it("is for the program's Python, by the profile's variables and its prologue", () => {
    expect(own.version).toHaveLength(3);
    expect(own.markers).toMatchObject({ sys_platform: 'linux', python_version: minor });
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    symlinkSync(own.python, join(bin, 'python3'));
    const found = askSetUp('environment-python', {
      env: { WHERE: bin },
      prologue: 'PATH="$WHERE:$PATH"',
    });
    expect(found.result).toMatchObject({ python: join(bin, 'python3'), version: own.version });
    const failed = askSetUp('environment-python', { prologue: 'echo no module; false' });
    expect(failed.error).toMatchObject({
      what: 'after the prologue python3 could not be asked for its version: no module',
      hint: 'Correct the prologue of the profile',
    });
  });

  it('has the versions that were decided on, is made once, and takes no room for the decision', () => {
    const { name, lines } = lock('one', 'alpha\n');
    expect(lines).toEqual(['alpha==1.0', 'beta==1.0']);
    expect(name).toMatch(new RegExp(`^[0-9a-f]{16}-py${minor.replace('.', '\\.')}$`));
    expect(readdirSync(join(root, 'locks', `one-py${minor}`))).toEqual(['packages.txt']);
    expect(make(name, lines)).toEqual({ result: { made: true } });
    expect(existsSync(join(root, name, 'lib', `python${minor}`, 'site-packages/alpha.py'))).toBe(true);
    expect(readFileSync(join(root, name, 'trainyard-packages.txt'), 'utf8')).toBe('alpha==1.0\nbeta==1.0\n');
    expect(make(name, lines)).toEqual({ result: { made: false } });
    expect(lock('two', 'beta\nalpha\n')).toMatchObject({ name, lines });
    expect(lock('three', 'alpha\n', { options: ['--pre'] }).name).not.toBe(name);
  });

  it("has pip, unpacked by the program's Python, also after a prologue", () => {
    const { name, lines } = lock('prologue', 'alpha\n', { options: ['--prefer-binary'], prologue: 'true' });
    expect(make(name, lines, { prologue: 'true' })).toEqual({ result: { made: true } });
    const bin = join(root, name, 'bin');
    const said = execFileSync(join(bin, 'pip'), ['--version'], { encoding: 'utf8' });
    expect(said).toContain(`from ${join(root, name)}/lib/python${minor}/site-packages/pip `);
    // ensurepip's is another one.
    const script = '#!/bin/sh\nexec "${0%/*}/python" -m pip "$@"\n';
    expect(readFileSync(join(bin, 'pip'), 'utf8')).toBe(script);
  });

  it('has another name where hashes were asked for, and is not made from a record without them', () => {
    const plain = lock('one', 'alpha\n');
    const hashed = lock('hashed', alpha + beta, { hashed: true });
    expect(hashed.lines).toEqual(plain.lines);
    expect(hashed.name).not.toBe(plain.name);
    const again = make(hashed.name, hashed.lines, { isThere: true });
    expect(again.error).toMatchObject({ hint: 'Name the requirements file once more' });
    const wrong = alpha.replace(/[0-9a-f]{64}/, '0'.repeat(64)) + beta;
    expect(make(hashed.name, hashed.lines, { requirements: wrong, isWhole: false }).error).toMatchObject({
      what: expect.stringContaining('DO NOT MATCH THE HASHES') as string,
    });
    expect(make(hashed.name, hashed.lines, { requirements: alpha + beta, isWhole: false })).toEqual({
      result: { made: true },
    });
    expect(make(hashed.name, hashed.lines, { isThere: true })).toEqual({ result: { made: false } });
  });

  it('is left alone where this node lacks its Python: another node may use it', () => {
    const { name, lines } = lock('one', 'alpha\n');
    const link = join(root, name, 'bin/python3');
    const before = readlinkSync(link);
    unlinkSync(link);
    symlinkSync('/opt/none/bin/python3', link);
    expect(make(name, lines).error).toMatchObject({
      what: expect.stringContaining('is for /opt/none/bin/python3, which is not that Python') as string,
    });
    expect(readlinkSync(link)).toBe('/opt/none/bin/python3');
    unlinkSync(link);
    symlinkSync(before, link);
    expect(make(name, lines)).toEqual({ result: { made: false } });
  });

  it('takes away what one that was killed has left, whatever that one made', async () => {
    const slow = join(dir, 'slow');
    const begun = join(dir, 'begun');
    // Builds a package, by a program that waits.
    mkdirSync(slow);
    writeFileSync(
      join(slow, 'setup.py'),
      `import time\nopen(${JSON.stringify(begun)}, 'w').close()\ntime.sleep(600)\n`,
    );
    const params = { ...shared, wheels: undefined, dir: root, key: 'slow', requirements: `${slow}\n` };
    const child = spawn('python3', pythonWords(program), {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    child.stdin.write(`${JSON.stringify({ op: 'environment-lock', params })}\n`);
    await vi.waitFor(
      () => {
        expect(existsSync(begun)).toBe(true);
      },
      { timeout: 60_000 },
    );
    process.kill(-(child.pid ?? 0), 'SIGKILL'); // with its pip
    await new Promise((resolve) => child.once('close', resolve));
    const partials = (): string[] =>
      readdirSync(join(root, 'locks')).filter((name) => name.includes('.partial-'));
    expect(partials()).toHaveLength(1);
    lock('four', 'beta\n');
    expect(partials()).toEqual([]);
  });
});

it('fetches for a node with another Python what that one needs', async () => {
  const pip = makeWheel(wheels, 'pip');
  makeWheel(wheels, 'older', {}, ['beta ; python_version < "3.9"', 'alpha ; python_version >= "3.9"']);
  const env = { PIP_FIND_LINKS: wheels, PIP_NO_INDEX: '1' };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    const markers = { ...own.markers, python_version: '3.8', python_full_version: '3.8.10' };
    const wanted = { root: join(dir, 'cache'), runtime: 'own', pip, python: [3, 8, 10] };
    const found = await fetchOwnWheels({
      ...wanted,
      requirements: 'older\n',
      own: { constraints: '', markers, isWhole: false },
    });
    expect(readdirSync(found.wheels).sort()).toEqual([
      'beta-1.0-py3-none-any.whl',
      'older-1.0-py3-none-any.whl',
      'pip-1.0-py3-none-any.whl',
    ]);
    const alone = await fetchOwnWheels({
      ...wanted,
      requirements: 'older==1.0\n',
      own: { constraints: '', markers, isWhole: true },
    });
    expect(readdirSync(alone.wheels).sort()).toEqual([
      'older-1.0-py3-none-any.whl',
      'pip-1.0-py3-none-any.whl',
    ]);
  } finally {
    vi.unstubAllEnvs();
  }
});
