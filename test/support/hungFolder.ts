// A folder on a disk that hangs, as a file server's does that is gone. Mounts need root.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Why there can be none here. */
export const noHungFolder = ((): string | undefined => {
  if (userInfo().uid !== 0) return 'mounts need root';
  return existsSync('/dev/fuse') ? undefined : 'this kernel has no FUSE';
})();

/** A file system whose server never answers: FUSE's requests are never read. */
const silentServer = `
import ctypes, os, sys
fd = os.open("/dev/fuse", os.O_RDWR)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"hang", sys.argv[1].encode(), b"fuse", 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print("mounted", flush=True)
sys.stdin.read()
`;

export class HungFolder {
  private constructor(
    private readonly path: string,
    private readonly server: ChildProcess,
  ) {}

  static async mount(path: string): Promise<HungFolder> {
    mkdirSync(path, { recursive: true });
    const server = spawn('python3', ['-c', silentServer, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [said] = (await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])) as [unknown];
    if (!String(said).includes('mounted')) throw new Error(`FUSE could not be mounted: ${String(said)}`);
    return new HungFolder(path, server);
  }

  async release(): Promise<void> {
    this.server.kill('SIGKILL'); // with it every question ends
    await once(this.server, 'exit');
    execFileSync('umount', ['-l', this.path]);
  }
}
