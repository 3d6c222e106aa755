// The one connection to a node: an ssh in control of it (ControlMaster), whose channels other ssh's
// are.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { systemCode } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { LineTail } from '../../streams/lineTail.js';
import { failure } from '../base/failures.js';

/** Milliseconds between two looks for the control socket. */
const lookEvery = 20;
/** Milliseconds for an end by SIGTERM, before SIGKILL. */
const patience = 2000;

/**
 * ssh with its own words, and beside it a reader of a pipe that only this process holds: when this
 * process is gone, however that came, the pipe ends, and with it ssh and its folder. A line in the
 * pipe tells the reader that ssh has ended before.
 */
const guarded = `folder=$1; shift
{ read -r line <&3 || { kill "$$"; rm -rf -- "$folder"; }; } >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/**
 * How the ssh in control is started. `ssh` is the program, `control` the path of its control
 * socket.
 */
export interface MasterStart {
  ssh: string;
  words: readonly string[];
  /** Of this connection alone; removed here only when this process dies before it. */
  folder: string;
  control: string;
  env: NodeJS.ProcessEnv;
}

/** Owns the process. */
export class Master implements Disposable {
  private tail = new LineTail();
  private exited = false;
  private lost: (() => void) | undefined;
  private readonly closed: Promise<void>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly control: string,
  ) {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.tail.push(text);
    });
    const guard = child.stdio[3];
    guard?.on('error', () => undefined); // the reader went with ssh
    this.closed = new Promise((resolve) => {
      child.on('exit', () => {
        this.exited = true;
        if (guard && 'end' in guard) guard.end('ended\n');
      });
      child.on('close', () => {
        this.exited = true;
        this.lost?.();
        resolve();
      });
    });
  }

  /** UserError (connection) where there is no ssh. */
  static async start({ ssh, words, folder, control, env }: MasterStart): Promise<Master> {
    const child = spawn('/bin/sh', ['-c', guarded, 'sh', folder, ssh, ...words], {
      detached: true, // no terminal to ask in, and no Ctrl-C that is meant for this process
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env,
    });
    const master = new Master(child, control);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        const what = systemCode(error) === 'ENOENT' ? '/bin/sh is not there' : error.message;
        reject(failure(`ssh cannot be started: ${what}`, 'Install OpenSSH on this machine', error));
      });
    });
    return master;
  }

  get isAlive(): boolean {
    return !this.exited;
  }

  complaints(): string[] {
    return this.tail.lines();
  }

  /** Called once, when it ends. */
  onEnd(listener: () => void): void {
    this.lost = listener;
  }

  /** True once there can be channels; false when it ended before. */
  async ready(): Promise<boolean> {
    // The socket appears under its name when it is listening.
    for (;;) {
      if (this.exited) {
        await this.closed;
        return false;
      }
      if (existsSync(this.control)) {
        this.tail = new LineTail(); // what came before the login is no reason for an end after it
        return true;
      }
      await new Promise((resolve) => setTimeout(resolve, lookEvery));
    }
  }

  dispose(): void {
    this.lost = undefined;
    if (this.exited) return;
    this.child.kill('SIGTERM');
    const impatient = setTimeout(() => this.child.kill('SIGKILL'), patience);
    impatient.unref();
    this.child.once('exit', () => {
      clearTimeout(impatient);
    });
  }
}
