// Two users of one node: what is of one user's run is nothing to the other, neither its files, its
// secrets nor its TensorBoard.
import { spawn } from 'node:child_process';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/harness.js';
import { linesAs, OtherUser, unavailable } from '../support/otherUser.js';

const owner = 64101;
const stranger = 64102;
/** Given to the run in its environment, as a key of some service is. */
const token = `canary-${randomBytes(12).toString('hex')}`;

describe.skipIf(unavailable !== undefined)(`two users (${unavailable ?? 'root'})`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trainyard-users-'));
  let user: OtherUser;
  let runDir: string;
  let key: string;
  let socket: string;

  beforeAll(async () => {
    chmodSync(dir, 0o755);
    user = await OtherUser.make(owner, dir);
    const { agent, trainer, mpiexec, python, tensorboardServer, hashes } = user.runtime;
    const client = await user.node.client();
    const spec = {
      version: 1 as const,
      label: 'users',
      profile: { name: 'users', kind: 'ssh' as const },
      program: 'command' as const,
      argv: ['sleep', '600'],
      cwd: '/',
      ranks: 1,
      threadsPerRank: 1,
      env: { SERVICE_TOKEN: token },
      evaluator: null,
      tensorboard: false,
      paths: { agent, trainer, mpiexec, python, tensorboardServer },
      hashes,
      limits: { hangTimeout: 300, startTimeout: 60, maxRestarts: 0 },
      launcher: 'manual' as const,
      nodes: [{ host: 'here', address: '127.0.0.1', slots: 1, gpus: null }],
      interface: 'lo',
      portRange: '47300-47399',
      minNodes: 1,
      totalSteps: null,
    };
    ({ dir: runDir } = await client.request('run.start', {
      workdir: nodePath(join(user.home, '.trainyard')),
      spec,
    }));
    ({ key } = await client.request('run.joining', { dir: nodePath(runDir) }));
    await until(
      'the command to run',
      () =>
        linesAs(owner, ['sh', '-c', 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"']).includes(
          `SERVICE_TOKEN=${token}`,
        ),
      30,
    );
    ({ socket } = await client.request('tensorboard.start', {
      dir: nodePath(runDir),
      python,
      server: tensorboardServer,
      idle: 600,
    }));
  });
  afterAll(async () => {
    try {
      const client = await user.node.client();
      await client.request('tensorboard.stop', { dir: nodePath(runDir) });
      await client.request('run.kill', { dir: nodePath(runDir) });
      user.node.dispose();
    } finally {
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
      rmSync(`/tmp/trainyard-${owner}`, { recursive: true, force: true });
    }
  });

  /** Files of processes that hold one of the secrets, as this user sees them. */
  const processesWith = (uid: number, name: string): string[] =>
    linesAs(uid, ['sh', '-c', `grep -laFs -f - /proc/[0-9]*/${name}`], `${key}\n${token}\n`);

  test('the run is its owner’s: everything below runs as that user', () => {
    expect(statSync(join(runDir, 'join.json')).uid).toBe(owner);
    expect(readFileSync(join(runDir, 'join.json'), 'utf8')).toContain(key);
    expect(processesWith(owner, 'environ').length).toBeGreaterThan(0);
  });

  test('no secret stands in a command line, and no environment of the run is open to another', () => {
    expect(processesWith(owner, 'cmdline')).toEqual([]);
    expect(processesWith(stranger, 'cmdline')).toEqual([]);
    expect(processesWith(stranger, 'environ')).toEqual([]);
    expect(linesAs(owner, ['sh', '-c', 'grep -laFs -f - /proc/[0-9]*/environ'], `${key}\n`)).toEqual([]);
  });

  test('another user reads, lists, changes and runs nothing of the owner’s', () => {
    const places = ['/tmp', '/var/tmp', '/dev/shm', '/run'];
    const find = (uid: number, ...words: string[]): string[] =>
      linesAs(uid, ['find', ...places, '-user', String(owner), ...words]);
    expect(find(owner)).toContain(join(runDir, 'join.json'));
    const open = ['(', '-readable', '-o', '-writable', '-o', '-type', 'd', '-executable', ')'];
    expect(find(stranger, '!', '-type', 'l', ...open)).toEqual([]);
    for (const path of [
      runDir,
      join(runDir, 'join.json'),
      join(runDir, 'run.json'),
      join(runDir, 'logs', 'rank-0.log'),
    ])
      expect(linesAs(stranger, ['sh', '-c', `test -e "$0" && echo "$0"`, path])).toEqual([]);
  });

  test('what another user can find is found where it lies open', () => {
    const open = join(dir, 'open');
    writeFileSync(open, token, { mode: 0o644 });
    expect(linesAs(stranger, ['grep', '-rlaFs', '-f', '-', dir], `${token}\n`)).toEqual([open]);
    rmSync(open);
    expect(linesAs(stranger, ['grep', '-rlaFs', '-f', '-', dir], `${key}\n${token}\n`)).toEqual([]);
  });

  /** How a connection to TensorBoard ends for this user. */
  function connectAs(uid: number): Promise<string> {
    process.setegid?.(uid);
    process.seteuid?.(uid);
    try {
      const trial = connect(socket); // the system decides before this returns
      return new Promise((resolve) => {
        trial.on('connect', () => {
          trial.destroy();
          resolve('connected');
        });
        trial.on('error', (error: NodeJS.ErrnoException) => {
          resolve(error.code ?? error.message);
        });
      });
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
  }

  test('TensorBoard’s socket is its owner’s alone', async () => {
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    expect(statSync(socket).mode & 0o177).toBe(0);
    expect(await connectAs(owner)).toBe('connected');
    expect(await connectAs(stranger)).toBe('EACCES');
    expect(linesAs(stranger, ['ls', dirname(socket)])).toEqual([]);
  });

  test('a folder that another user made first, and serves in, is refused, with what to do', async () => {
    const client = await user.node.client();
    await client.request('tensorboard.stop', { dir: nodePath(runDir) });
    rmSync(dirname(socket), { recursive: true });
    linesAs(stranger, ['mkdir', '-m', '777', dirname(socket)]);
    const script = `import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("serving", flush=True)
sys.stdin.read()`;
    const serving = spawn('python3', ['-c', script, socket], { uid: stranger, gid: stranger, cwd: '/' });
    try {
      await once(serving.stdout, 'data');
      chmodSync(socket, 0o777);
      const { python, tensorboardServer: server } = user.runtime;
      const starting = client.request('tensorboard.start', {
        dir: nodePath(runDir),
        python,
        server,
        idle: 600,
      });
      await expect(starting).rejects.toThrow(
        new RegExp(`${dirname(socket)} belongs to user ${stranger}, not to you.*XDG_RUNTIME_DIR`),
      );
    } finally {
      serving.kill();
    }
  });
});
