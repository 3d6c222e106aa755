// Which ssh this is, as far as it matters: what a server asks must not be taken for a question of
// ssh's own.
import { spawn } from 'node:child_process';

/**
 * OpenSSH 8.5 and newer put "(user@host) " before what a server asks. `shown` is what `ssh -V`
 * prints; of another ssh nothing is known.
 */
export function marksServers(shown: string): boolean {
  const [, major, minor] = /^OpenSSH_(?:\D*_)?(\d+)\.(\d+)/.exec(shown) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > 8 || (Number(major) === 8 && Number(minor) >= 5);
}

/** What `ssh -V` prints; empty where it cannot be asked. */
export function versionOf(ssh: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(ssh, ['-V'], { stdio: ['ignore', 'ignore', 'pipe'], env, timeout: 10_000 });
  let shown = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    shown = `${shown}${text}`.slice(0, 1000);
  });
  return new Promise((resolve) => {
    child.on('error', () => {
      resolve('');
    });
    child.on('close', () => {
      resolve(shown);
    });
  });
}
