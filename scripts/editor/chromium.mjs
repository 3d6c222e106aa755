// A Chromium for the tests that look at pages: the machine's own, since none comes with the
// packages.
import { existsSync } from 'node:fs';
import { capture } from '../lib/shell.mjs';
import { ensureSystemPackages } from '../lib/systemPackages.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Nothing of it talks to the network by itself, and no sandbox, which root and many containers
 * cannot have.
 */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Its path, or nothing when this machine has none. */
function findChromium() {
  const named = process.env['CHROME_PATH'];
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROME_PATH is ${named}, which does not exist`);
    return named;
  }
  return names
    .map((name) => capture('sh', ['-c', `command -v ${name}`]).stdout.trim())
    .find((path) => path !== '');
}

/** Its path, after apt has installed it where that is possible. */
export function ensureChromium() {
  const present = () => findChromium() !== undefined;
  ensureSystemPackages([{ package: 'chromium', present }]);
  const path = findChromium();
  if (!path) throw new Error('Chromium was not found. Install it, or name it with CHROME_PATH.');
  return path;
}
