// Whether this machine itself can train. Where it cannot, it is a client of others.
import { UserError } from '../base/errors.js';

const names: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' };

/** Undefined where it can; else why not, and what to do (preflight). */
export function whyNotHere(platform = process.platform, arch: string = process.arch): UserError | undefined {
  if (platform === 'linux' && arch === 'x64') return undefined;
  return new UserError(
    'preflight',
    `this machine is ${names[platform] ?? platform} on ${arch}, and training needs x86-64 Linux`,
    { kind: 'addProfile' },
  );
}
