// A user without an account, who has an agent and a runtime of his own. Needs root: folders of this
// user that nobody else may enter are shown to his processes alone, in a mount namespace.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { nullLogger } from '../../../src/core/base/log.js';
import { openLocalAgent } from '../../../src/core/agent/localAgent.js';
import { AgentNode } from '../../../src/core/agent/agentNode.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import {
  cacheFolder,
  ensureLocalRuntime,
  programsOf,
  type NodeRuntime,
} from '../../../src/core/setup/runtime.js';
import { findNativeSources } from '../../../src/core/setup/sources.js';
import { bundleDir } from './cluster.js';

const hasTools = ['unshare', 'setpriv'].every((tool) => spawnSync(tool, ['--version']).status === 0);
const mayMount = hasTools && spawnSync('unshare', ['-m', 'true']).status === 0;

/** Why there can be no other user here. */
export const unavailable =
  process.getuid?.() === 0
    ? mayMount
      ? undefined
      : 'it needs unshare, setpriv and the right to mount'
    : 'it needs root';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Shows the entries of the runtime at `shown`, and the Python that they lead to at its own place.
 */
function mounts(runtimeDir: string, shown: string): string[] {
  const python = dirname(dirname(realpathSync(join(runtimeDir, 'bin', 'python'))));
  // Of the list of users: $HOME is another one here.
  const home = userInfo().homedir;
  const lines = ['set -e', 'umask 022'];
  for (const entry of ['bin', 'lib']) {
    mkdirSync(join(shown, entry), { recursive: true });
    lines.push(`mount --bind ${quoted(join(runtimeDir, entry))} ${quoted(join(shown, entry))}`);
  }
  cpSync(join(runtimeDir, 'pyvenv.cfg'), join(shown, 'pyvenv.cfg'));
  if (python.startsWith(`${home}/`)) {
    const held = join(shown, 'python');
    mkdirSync(held);
    lines.push(
      `mount --bind ${quoted(python)} ${quoted(held)}`,
      `mount -t tmpfs -o mode=755 tmpfs ${quoted(home)}`,
      `mkdir -p ${quoted(python)}`,
      `mount --bind ${quoted(held)} ${quoted(python)}`,
    );
  }
  return lines;
}

export class OtherUser {
  readonly home: string;
  readonly node: AgentNode;

  private constructor(
    readonly uid: number,
    dir: string,
    readonly runtime: NodeRuntime,
    program: string,
  ) {
    this.home = join(dir, 'home');
    this.node = new AgentNode({ open: () => openLocalAgent(program), logger: nullLogger });
  }

  /** `dir` is new, and others may enter it; his home below it is his alone. */
  static async make(uid: number, dir: string): Promise<OtherUser> {
    const own = await ensureLocalRuntime(await findNativeSources(bundleDir, process.env), cacheFolder());
    const shown = join(dir, 'runtime');
    const nodeDir = join(dir, 'node');
    mkdirSync(shown);
    cpSync(own.nodeDir, nodeDir, { recursive: true, verbatimSymlinks: true });
    rmSync(join(nodeDir, 'lib'));
    execFileSync('ln', ['-s', join(shown, 'lib'), join(nodeDir, 'lib')]);
    execFileSync('chmod', ['-R', 'a+rX', nodeDir, shown]);
    const home = join(dir, 'home');
    mkdirSync(home);
    chownSync(home, uid, uid);
    chmodSync(home, 0o700);
    const agent = join(nodeDir, 'bin', 'agent');
    const inside = [
      ...mounts(own.runtimeDir, shown),
      `cd ${quoted(home)}`,
      `exec setpriv --reuid ${uid} --regid ${uid} --clear-groups env -i HOME=${quoted(home)} PATH=/usr/bin:/bin ${quoted(agent)} "$@"`,
    ];
    const script = join(dir, 'inside.sh');
    writeFileSync(script, `${inside.join('\n')}\n`);
    const program = join(dir, 'agent.sh');
    writeFileSync(program, `#!/bin/sh\nexec unshare -m sh ${quoted(script)} "$@"\n`, { mode: 0o755 });
    const runtime = {
      ...own,
      ...programsOf(nodePath(nodeDir), nodePath(shown)),
    };
    return new OtherUser(uid, dir, runtime, program);
  }
}

/** What a program that runs as `uid` prints, one line each; how it ends does not matter. */
export function linesAs(uid: number, argv: readonly [string, ...string[]], input = ''): string[] {
  const [command, ...words] = argv;
  const options = {
    uid,
    gid: uid,
    input,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  } as const;
  const { error, stdout } = spawnSync(command, words, { ...options, maxBuffer: 1 << 26 });
  if (error) throw error;
  return stdout.split('\n').filter((line) => line !== '');
}
