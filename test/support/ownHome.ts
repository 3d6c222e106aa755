// A home folder of its own for everything that a suite starts: no shell reads the login files of who
// runs the tests, and nothing is left in that user's home. For vitest's `globalSetup`. The caches
// stay those of the user.
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Variables of tools that would look in the home folder, and the place there. */
const stays = {
  XDG_CACHE_HOME: '.cache',
  npm_config_cache: '.npm',
  npm_config_userconfig: '.npmrc',
  PIP_CONFIG_FILE: '.config/pip/pip.conf',
};

export default function ownHome(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-home-'));
  for (const [name, place] of Object.entries(stays)) process.env[name] ??= join(homedir(), place);
  process.env['HOME'] = folder;
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
