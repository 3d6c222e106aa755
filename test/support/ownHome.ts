// A home folder of its own for everything that a suite starts: no shell reads the login files of who
// runs the tests, and nothing is left in that user's home. For vitest's `globalSetup`. The caches
// stay those of the user.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Variables of tools that would look in the home folder, and the place there. */
const stays = {
  XDG_CACHE_HOME: '.cache',
  npm_config_cache: '.npm',
  npm_config_userconfig: '.npmrc',
  PIP_CONFIG_FILE: '.config/pip/pip.conf',
};

/**
 * Where `python3` in PATH is a script, as pyenv's, it starts several shells each time: 0.2 s of a
 * core. Then a folder with one that starts that Python at once comes first in PATH.
 */
function shortenPython(): (() => void) | undefined {
  const [found = ''] = execFileSync('sh', ['-c', 'command -v python3'], { encoding: 'utf8' }).split('\n');
  if (readFileSync(found).subarray(0, 2).toString() !== '#!') return undefined;
  const ask = ['-c', 'import sys; print(sys.executable)'];
  const python = execFileSync(found, ask, { encoding: 'utf8' }).trim();
  // Other users, who may not read it nor that Python, find the next python3 in PATH.
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-python-'));
  writeFileSync(join(folder, 'python3'), `#!/bin/sh\nexec '${python}' "$@"\n`, { mode: 0o755 });
  process.env['PATH'] = [folder, process.env['PATH']].join(delimiter);
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}

export default function ownHome(): () => void {
  const endPython = shortenPython();
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-home-'));
  for (const [name, place] of Object.entries(stays)) process.env[name] ??= join(homedir(), place);
  process.env['HOME'] = folder;
  // Node.js reads these certificates at each start, for 0.1 s. Here it reaches this machine only.
  delete process.env['NODE_EXTRA_CA_CERTS'];
  return () => {
    endPython?.();
    rmSync(folder, { recursive: true, force: true });
  };
}
