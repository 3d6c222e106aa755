// A disk of its own, which can be made to hang in the middle of writing. Mounts need root.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';

/** Why there can be none here. */
export const noFreezableDisk = ((): string | undefined => {
  if (userInfo().uid !== 0) return 'mounts need root';
  const missing = ['mkfs.ext4', 'fsfreeze', 'mount'].find(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  if (missing !== undefined) return `${missing} is not installed`;
  return existsSync('/dev/loop-control') ? undefined : 'this kernel has no loop devices';
})();

export class FreezableDisk {
  private frozen = false;

  constructor(
    image: string,
    readonly path: string,
  ) {
    mkdirSync(path, { recursive: true });
    execFileSync('truncate', ['-s', '64M', image]);
    execFileSync('mkfs.ext4', ['-q', image]);
    execFileSync('mount', ['-o', 'loop', image, path]);
  }

  freeze(): void {
    execFileSync('fsfreeze', ['-f', this.path]);
    this.frozen = true;
  }

  release(): void {
    if (this.frozen) execFileSync('fsfreeze', ['-u', this.path]);
    execFileSync('umount', ['-l', this.path]);
  }
}
