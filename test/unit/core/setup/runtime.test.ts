// The runtime with a stand-in for python3 (a shell script that makes what pip would), so that every
// failure can be had.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorWords } from '../../../../src/cli/remedies.js';
import { Cancelled, remedyOf, UserError } from '../../../../src/core/base/errors.js';
import { identity } from '../../../../src/core/setup/lease.js';
import { processStartTime } from '../../../../src/core/base/processes.js';
import { ensurePythonRuntime } from '../../../../src/core/setup/pythonRuntime.js';
import { cacheFolder, ensureLocalRuntime } from '../../../../src/core/setup/runtime.js';
import { fetchParts, findNativeSources, slurmParts } from '../../../../src/core/setup/sources.js';
import { temporaryFolder } from '../../support/temporary.js';

const root = temporaryFolder();
let count = 0;
const fresh = (): string => {
  const path = join(root, String(count++));
  mkdirSync(path);
  return path;
};
function script(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
/**
 * Called as `python3 -m venv DIR`, it makes DIR with a `bin/python` that does `pip` when asked to
 * install.
 */
function python(folder: string, pip: string): string {
  writeFileSync(join(folder, 'pip.sh'), `#!/bin/sh\nhere=$(dirname "$(dirname "$0")")\n${pip}\n`);
  const venv = `mkdir -p "$3/bin" "$3/lib" && cp "${folder}/pip.sh" "$3/bin/python" && chmod 755 "$3/bin/python" && echo "home = /usr" > "$3/pyvenv.cfg"
printf '#!%s/bin/python\\nimport tensorboard\\n' "$3" > "$3/bin/tensorboard"; chmod 755 "$3/bin/tensorboard"`;
  return script(folder, 'python3', venv);
}
const works =
  'echo "Collecting mpich==5.0.2"; : > "$here/bin/mpiexec"; : > "$here/lib/libmpi.so.12"; : > "$here/lib/libdnnl.so.3"; echo x >> "$here/../installs"';
function requirements(folder: string): string {
  const path = join(folder, 'requirements.txt');
  writeFileSync(path, 'mpich==5.0.2 --hash=sha256:00\n');
  return path;
}
async function failure(work: Promise<unknown>): Promise<UserError> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ code: 'preflight' });
  return error as UserError;
}
const left = (folder: string): string[] => readdirSync(folder).filter((name) => name !== 'installs');

describe('ensurePythonRuntime', () => {
  it('makes it once, under its final name, with scripts that name that', async () => {
    const folder = fresh();
    const runtimes = join(folder, 'runtime');
    const options = { root: runtimes, requirements: requirements(folder), python: python(folder, works) };
    const progress: string[] = [];
    const { dir, requirementsHash } = await ensurePythonRuntime({
      ...options,
      onProgress: (text) => progress.push(text),
    });
    expect(dir).toBe(join(runtimes, requirementsHash.slice(0, 16)));
    expect(readFileSync(join(dir, 'bin/tensorboard'), 'utf8')).toBe(
      `#!${dir}/bin/python\nimport tensorboard\n`,
    );
    expect(statSync(join(dir, 'bin/tensorboard')).mode & 0o777).toBe(0o755);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(progress).toContain('Collecting mpich==5.0.2');
    await ensurePythonRuntime({ ...options, python: '/nonexistent' });
    expect(left(runtimes)).toEqual([requirementsHash.slice(0, 16)]);
  });

  it('is made by one of many callers while the others wait', async () => {
    const folder = fresh();
    const runtimes = join(folder, 'runtime');
    const options = {
      root: runtimes,
      requirements: requirements(folder),
      python: python(folder, `sleep 0.5; ${works}`),
    };
    const first = ensurePythonRuntime(options);
    await expect.poll(() => existsSync(runtimes) && readdirSync(runtimes).length).toBeTruthy();
    const made = await Promise.all([first, ...Array.from({ length: 4 }, () => ensurePythonRuntime(options))]);
    expect(new Set(made.map(({ dir }) => dir)).size).toBe(1);
    expect(readFileSync(join(runtimes, 'installs'), 'utf8')).toBe('x\n');
    expect(left(runtimes)).toHaveLength(1);
  });

  it('clears away what a killed process left, and is not held up by it', async () => {
    const folder = fresh();
    const runtimes = join(folder, 'runtime');
    const options = { root: runtimes, requirements: requirements(folder), python: python(folder, works) };
    const { dir } = await ensurePythonRuntime(options);
    const name = dir.slice(runtimes.length + 1);
    const killed = (await identity()).replace(/\d+$/, '1'); // our pid, another start time: a reused pid
    mkdirSync(join(runtimes, `.${name}.partial-${killed}-abc`));
    writeFileSync(join(runtimes, `.${name}.partial-${killed}-abc`, 'junk'), 'x');
    writeFileSync(join(runtimes, `.${name}.maker`), `${killed} 000000000001\n`);
    writeFileSync(join(dir, 'bin/mpiexec'), '');
    rmSync(join(dir, 'bin/mpiexec')); // and the runtime itself is broken
    await ensurePythonRuntime(options);
    expect(existsSync(join(dir, 'bin/mpiexec'))).toBe(true);
    expect(left(runtimes)).toEqual([name]);
  });

  it('waits for a maker on another host that shares the home, and leaves what that has half made', async () => {
    const folder = fresh();
    const runtimes = join(folder, 'runtime');
    const said: string[] = [];
    const options = {
      ...{ root: runtimes, requirements: requirements(folder), python: python(folder, works) },
      onProgress: (text: string) => {
        said.push(text);
      },
    };
    const { dir } = await ensurePythonRuntime(options);
    const name = dir.slice(runtimes.length + 1);
    rmSync(join(dir, 'bin/mpiexec'));
    const other = 'gpu9-0123abcd-1-1'; // no process of this host is asked about it
    mkdirSync(join(runtimes, `.${name}.partial-${other}-abc`));
    writeFileSync(join(runtimes, `.${name}.maker`), `${other} 000000000001\n`);
    const making = ensurePythonRuntime(options);
    await expect
      .poll(() => said.at(-1), { timeout: 20_000 })
      .toMatch(/waiting for another Trainyard on gpu9/);
    expect(left(runtimes)).toContain(`.${name}.partial-${other}-abc`);
    rmSync(join(runtimes, `.${name}.maker`));
    await making;
    expect(existsSync(join(dir, 'bin/mpiexec'))).toBe(true);
    expect(left(runtimes)).toEqual([`.${name}.partial-${other}-abc`, name]);
  });

  it.each([
    [
      'echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE." >&2; exit 1',
      /exit 1.*HASHES.*package index/,
    ],
    [
      'echo "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"; exit 1',
      /Free some disk space/,
    ],
    [
      'echo "WARNING: Retrying"; echo "ERROR: No matching distribution found for mpich==5.0.2"; exit 1',
      /No matching distribution.*network/,
    ],
    ['kill -9 $$', /SIGKILL/],
    ['exit 0', /without bin\/mpiexec/],
  ])('says what pip said, and leaves nothing (%#)', async (pip, expected) => {
    const folder = fresh();
    const runtimes = join(folder, 'runtime');
    const error = await failure(
      ensurePythonRuntime({
        root: runtimes,
        requirements: requirements(folder),
        python: python(folder, pip),
      }),
    );
    expect(error.message).toMatch(expected);
    expect(left(runtimes)).toEqual([]);
  });

  it('names the package that has python3, or its venv module', async () => {
    const folder = fresh();
    const options = { root: join(folder, 'runtime'), requirements: requirements(folder) };
    const none = await failure(ensurePythonRuntime({ ...options, python: join(folder, 'nonexistent') }));
    expect(none.message).toContain('sudo apt-get install python3 python3-venv');
    const said =
      'echo "The virtual environment was not created successfully because ensurepip is not available."; echo "    apt install python3.11-venv"; exit 1';
    const bare = await failure(ensurePythonRuntime({ ...options, python: script(folder, 'bare', said) }));
    expect(bare.message).toContain('sudo apt-get install python3.11-venv');
    expect(left(options.root)).toEqual([]);
  });

  it('can be cancelled: the installer ends with its children, and nothing stays', async () => {
    const folder = fresh();
    const runtimes = join(folder, 'runtime');
    const abort = new AbortController();
    const pidFile = join(folder, 'pid');
    const slow = `sleep 60 & echo $! > ${pidFile}.tmp; mv ${pidFile}.tmp ${pidFile}; wait`;
    const making = ensurePythonRuntime({
      root: runtimes,
      requirements: requirements(folder),
      python: python(folder, slow),
      signal: abort.signal,
    });
    await expect.poll(() => existsSync(pidFile), { timeout: 5000 }).toBe(true);
    abort.abort();
    await expect(making).rejects.toBeInstanceOf(Cancelled);
    expect(left(runtimes)).toEqual([]);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await expect.poll(async () => (await stateOfProcess(pid)) ?? 'Z').toBe('Z');
  });
});

/** Z is a process that ended and was not yet waited for. */
async function stateOfProcess(pid: number): Promise<string | undefined> {
  if ((await processStartTime(pid)) === undefined) return undefined;
  return / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

describe('ensureLocalRuntime', () => {
  function sources(folder: string): Parameters<typeof ensureLocalRuntime>[0] {
    for (const name of ['tensorboard_server', 'notify', 'driver', ...slurmParts, ...fetchParts]) {
      writeFileSync(join(folder, `${name}.py`), 'print()');
    }
    return {
      agent: script(folder, 'agent', 'echo agent'),
      trainer: script(folder, 'trainer', 'echo trainer'),
      mpiexecControl: script(folder, 'mpiexec_control.so', ''),
      tensorboardServer: join(folder, 'tensorboard_server.py'),
      notify: join(folder, 'notify.py'),
      slurm: folder,
      fetch: folder,
      requirements: requirements(folder),
      cuda: {
        13: { library: join(folder, 'none'), requirements: requirements(folder) },
        12: { library: join(folder, 'none12'), requirements: requirements(folder) },
      },
      bootstrap: folder,
    };
  }

  it('makes a node folder whose lib leads to the runtime, one for each pair of binaries', async () => {
    const folder = fresh();
    const cache = join(folder, 'cache');
    const from = sources(folder);
    const options = { python: python(folder, works) };
    const [made, again] = await Promise.all([
      ensureLocalRuntime(from, cache, options),
      ensureLocalRuntime(from, cache, options),
    ]);
    expect(again).toEqual(made);
    expect(readlinkSync(join(made.nodeDir, 'lib'))).toBe(join(made.runtimeDir, 'lib'));
    expect(readFileSync(made.trainer, 'utf8')).toContain('echo trainer');
    expect(statSync(made.agent).mode & 0o111).not.toBe(0);
    expect(readFileSync(join(made.nodeDir, 'share/fetch/download.py'), 'utf8')).toBe('print()');
    expect(made.hashes.agent).toMatch(/^[0-9a-f]{64}$/);
    expect(existsSync(join(made.nodeDir, 'cuda'))).toBe(false);
    writeFileSync(from.tensorboardServer, 'print(2)');
    writeFileSync(from.cuda[13].library, 'a library');
    const refreshed = await ensureLocalRuntime(from, cache, options);
    expect(refreshed.nodeDir).toBe(made.nodeDir);
    expect(readFileSync(refreshed.tensorboardServer, 'utf8')).toBe('print(2)');
    expect(readFileSync(join(made.nodeDir, 'cuda/libtrainer_cuda.so'), 'utf8')).toBe('a library');
    rmSync(made.agent);
    expect(readFileSync((await ensureLocalRuntime(from, cache, options)).agent, 'utf8')).toContain(
      'echo agent',
    );
    writeFileSync(made.trainer, 'cut');
    const mended = await ensureLocalRuntime(from, cache, options);
    expect(readFileSync(mended.trainer, 'utf8')).toContain('echo trainer');
    writeFileSync(from.trainer, '#!/bin/sh\necho newer\n');
    const newer = await ensureLocalRuntime(from, cache, options);
    expect(newer.nodeDir).not.toBe(made.nodeDir);
    expect(readdirSync(join(cache, 'node')).filter((name) => name.startsWith('.'))).toEqual([]);
  });
});

describe('findNativeSources', () => {
  it('looks beside the bundle first, then in the build, and names what is missing', async () => {
    const folder = fresh();
    const dist = join(folder, 'dist');
    expect((await failure(findNativeSources(dist, {}))).message).toContain(join(dist, 'bin/agent'));
    expect(remedyOf(await failure(findNativeSources(dist, {})))).toEqual({
      kind: 'reinstall',
      checkout: false,
    });
    mkdirSync(join(dist, '..', 'native'), { recursive: true });
    writeFileSync(join(dist, '..', 'native', 'CMakeLists.txt'), '');
    const error = await failure(findNativeSources(dist, {}));
    expect(errorWords(error)).toBe(
      `${join(dist, 'bin/agent')} is missing. Build it with: node scripts/native/native.mjs build && npm run build.`,
    );
    const bin = join(folder, 'build/native/release/node/bin');
    for (const name of ['agent', 'trainer', 'mpiexec_control.so']) script(bin, name, '');
    for (const name of ['native/node', 'native/agent/slurm', 'native/trainer/data/fetch']) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    for (const name of [
      'native/agent/tensorboard/tensorboard_server.py',
      'native/agent/notify/notify.py',
      'native/runtime/requirements.txt',
      'native/runtime/cuda.txt',
      'native/runtime/cuda12.txt',
    ]) {
      script(folder, name, '');
    }
    expect((await findNativeSources(dist, {})).agent).toBe(join(bin, 'agent'));
    for (const name of ['share/node', 'share/fetch', 'share/slurm']) {
      mkdirSync(join(dist, name), { recursive: true });
    }
    for (const name of [
      'bin/agent',
      'bin/trainer',
      'bin/mpiexec_control.so',
      'share/tensorboard_server.py',
      'share/notify.py',
      'share/requirements.txt',
      'share/cuda.txt',
      'share/cuda12.txt',
    ]) {
      script(dist, name, '');
    }
    expect((await findNativeSources(dist, {})).trainer).toBe(join(dist, 'bin/trainer'));
    expect((await findNativeSources(dist, { TRAINYARD_NATIVE: bin })).trainer).toBe(join(bin, 'trainer'));
  });
});

it('cacheFolder honours XDG_CACHE_HOME when it is absolute', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/c' })).toBe('/c/trainyard');
  expect(cacheFolder({ XDG_CACHE_HOME: 'c' })).toMatch(/\/\.cache\/trainyard$/);
});
