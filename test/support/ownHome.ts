// A home folder of its own for everything that a suite starts: no shell reads the login files of who
// runs the tests, and nothing is left in that user's home. For vitest's `globalSetup`. The caches
// stay those of the user.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Variables of tools that would look in the home folder, and the place there. */
const stays = {
  XDG_CACHE_HOME: '.cache',
  npm_config_cache: '.npm',
  npm_config_userconfig: '.npmrc',
  PIP_CONFIG_FILE: '.config/pip/pip.conf',
};

/**
 * The folder of the Python that `python3` comes to. In PATH there may be a script in its place, as
 * pyenv's, which starts several shells each time: 0.2 s of a core.
 */
const pythonFolder = (): string =>
  dirname(execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim());

export default function ownHome(): () => void {
  process.env['PATH'] = [pythonFolder(), process.env['PATH']].join(delimiter);
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-home-'));
  for (const [name, place] of Object.entries(stays)) process.env[name] ??= join(homedir(), place);
  process.env['HOME'] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
