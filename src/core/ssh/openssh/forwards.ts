// Sockets of the node, each behind a socket in the connection's private folder: ssh has no channel
// to a Unix socket otherwise.
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { LineTail } from '../../streams/lineTail.js';
import { failure } from '../base/failures.js';

/** What `run` is given: an ssh command line's words after the control options. */
export type Control = (words: readonly string[]) => Promise<{ code: number | null; said: string }>;

/**
 * Makes a local socket for each socket of the node at the first need. `localPath` gives its path
 * from a count, and `word` writes the node's path as ssh reads it.
 */
export class UnixForwards {
  private readonly made = new Map<string, Promise<string>>();
  private count = 0;

  constructor(
    private readonly control: Control,
    private readonly localPath: (count: number) => string,
    private readonly word: (path: string) => string,
    /** The node. */
    private readonly where: string,
  ) {}

  /** A connection to the node's socket. UserError (connection). */
  async connect(path: string): Promise<Socket> {
    const known = this.made.get(path);
    const local = known ?? this.make(path);
    if (!known) {
      this.made.set(path, local);
      local.catch(() => this.made.delete(path));
    }
    const socket = connect(await local);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error) => {
        reject(
          failure(
            `${path} cannot be reached: ${error.message}`,
            { kind: 'connectAgain', host: this.where },
            error,
          ),
        );
      });
    });
    return socket;
  }

  private async make(path: string): Promise<string> {
    const local = this.localPath(++this.count);
    const { code, said } = await this.control(['-O', 'forward', '-L', `${local}:${this.word(path)}`]);
    if (code !== 0) {
      throw failure(`${path} cannot be forwarded: ${said}`, { kind: 'connectAgain', host: this.where });
    }
    return local;
  }
}

/** Runs ssh for its exit code and last words. */
export function runSsh(
  ssh: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; said: string }> {
  const child = spawn(ssh, words, { detached: true, stdio: ['ignore', 'ignore', 'pipe'], env });
  const tail = new LineTail();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail.push(text);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, said: tail.lines().at(-1) ?? '' });
    });
  });
}
