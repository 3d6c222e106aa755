// Programs of Windows' Node under Wine, with a Windows of their own that goes with the test.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '../../support/harness.js';

export interface WindowsOutcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** As Windows calls a file of this machine. */
export const asWindows = (path: string): string => `Z:${path.replaceAll('/', '\\')}`;

/** One program that runs. Node of Windows takes files alone for its streams under Wine. */
export class WindowsProgram {
  readonly ended: Promise<number | null>;

  constructor(
    private readonly child: ChildProcess,
    private readonly files: { stdout: string; stderr: string },
  ) {
    this.ended = new Promise((settle, reject) => {
      child.on('error', reject);
      child.on('close', settle);
    });
    this.ended.catch(() => undefined);
  }

  get stdout(): string {
    return readFileSync(this.files.stdout, 'utf8');
  }

  get stderr(): string {
    return readFileSync(this.files.stderr, 'utf8');
  }

  async outcome(): Promise<WindowsOutcome> {
    const code = await this.ended;
    return { code, stdout: this.stdout, stderr: this.stderr };
  }

  /** As when its window is closed. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

export class Windows {
  private readonly folder = mkdtempSync(join(tmpdir(), 'trainyard-wine-'));
  private readonly prefix = join(this.folder, 'prefix');
  private readonly env: NodeJS.ProcessEnv;
  private readonly programs: WindowsProgram[] = [];

  constructor(
    private readonly found: { wine: string; node: string },
    private readonly script: string,
  ) {
    const { HOME, PATH, LANG } = process.env;
    this.env = {
      HOME,
      PATH,
      LANG,
      WINEPREFIX: this.prefix,
      WINEDEBUG: '-all',
      NODE_SKIP_PLATFORM_CHECK: '1',
    };
    mkdirSync(this.prefix);
    // Its default is Windows 7, on which Node does not start.
    const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
    execFileSync(found.wine, version, { env: this.env, stdio: 'ignore' });
  }

  /** A folder of its user, as this machine calls it. */
  userFolder(...parts: string[]): string {
    return join(this.prefix, 'drive_c', 'users', userInfo().username, ...parts);
  }

  start(args: readonly string[], cwd: string): WindowsProgram {
    const name = join(this.folder, String(this.programs.length));
    const files = { stdout: `${name}.out`, stderr: `${name}.err` };
    const streams = [openSync(files.stdout, 'w'), openSync(files.stderr, 'w')] as const;
    const words = [this.found.node, asWindows(this.script), ...args];
    const child = spawn(this.found.wine, words, { cwd, env: this.env, stdio: ['ignore', ...streams] });
    for (const stream of streams) closeSync(stream);
    const program = new WindowsProgram(child, files);
    this.programs.push(program);
    return program;
  }

  run(args: readonly string[], cwd: string): Promise<WindowsOutcome> {
    return this.start(args, cwd).outcome();
  }

  /** Ends every program of this Windows and removes it. */
  async dispose(): Promise<void> {
    for (const program of this.programs) await program.kill();
    const server = join(dirname(this.found.wine), 'wineserver');
    if (existsSync(server)) {
      execFileSync(server, ['-k'], { env: this.env, stdio: 'ignore' });
      execFileSync(server, ['-w'], { env: this.env, stdio: 'ignore' });
    }
    await until(
      'Wine to leave its folder',
      () => {
        try {
          rmSync(this.folder, { recursive: true, force: true });
          return true;
        } catch {
          return undefined;
        }
      },
      30,
    );
  }
}
