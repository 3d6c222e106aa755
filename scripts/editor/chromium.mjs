// A Chromium for the tests that look at pages: the machine's own, since none comes with the
// packages.
import { existsSync } from 'node:fs';
import { capture } from '../lib/shell.mjs';
import { ensureSystemPackages, wishSystemPackage } from '../lib/systemPackages.mjs';

/** Debian's Chromium without the parts of a window. It takes less of the processor's time. */
const withoutWindow = 'chromium-headless-shell';
const names = [withoutWindow, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

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

/** @param {string} name */
const pathOf = (name) => capture('sh', ['-c', `command -v ${name}`]).stdout.trim();

/** Its path, or nothing when this machine has none. */
function findChromium() {
  const named = process.env['CHROME_PATH'];
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROME_PATH is ${named}, which does not exist`);
    return named;
  }
  return names.map(pathOf).find((path) => path !== '');
}

/** Its path, after apt has installed it where that is possible. */
export function ensureChromium() {
  const isNamed = Boolean(process.env['CHROME_PATH']);
  wishSystemPackage({ package: withoutWindow, present: () => isNamed || pathOf(withoutWindow) !== '' });
  ensureSystemPackages([{ package: 'chromium', present: () => findChromium() !== undefined }]);
  const path = findChromium();
  if (!path) throw new Error('Chromium was not found. Install it, or name it with CHROME_PATH.');
  return path;
}
