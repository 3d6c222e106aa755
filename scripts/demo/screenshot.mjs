// The README's picture: the demo, in mid-run, in a new editor. Says how long a first look takes on
// the way.
//   node scripts/demo/screenshot.mjs [FILE]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { chromiumFlags, ensureChromium } from '../editor/chromium.mjs';
import { shownStep } from '../editor/shownStep.mjs';
import { linkExtension, startCodeServer } from '../editor/codeServer.mjs';
import { root } from '../lib/paths.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { capture, main } from '../lib/shell.mjs';

/** @import { Page } from 'playwright-core' */

/**
 * The step that a dashboard in the window has drawn; 0 before there is one.
 * @param {Page} page
 */
async function drawnStep(page) {
  for (const frame of page.frames()) {
    const step = await shownStep(frame);
    if (step > 0) return step;
  }
  return 0;
}

/**
 * @param {Page} page
 * @param {number} step
 * @param {number} seconds
 */
async function until(page, step, seconds) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    if ((await drawnStep(page)) >= step) return;
  }
  throw new Error(`no dashboard showed step ${step} within ${seconds} s`);
}

main(async () => {
  const target = resolve(process.argv[2] ?? join(root, 'media/screenshot.png'));
  const cli = ensureBuilt();
  const folder = mkdtempSync(join(tmpdir(), 'ty-picture-'));
  /** @param {string} name */
  const at = (name) => join(folder, name);
  for (const name of ['home', 'extensions', 'images']) mkdirSync(at(name));
  const profile = { name: 'local', kind: 'local', workdir: at('work') };
  writeFileSync(at('home/profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  linkExtension(at('extensions'), 'trainyard', root);
  const env = { TRAINYARD_HOME: at('home') };
  const server = await startCodeServer({
    extensionsDir: at('extensions'),
    userDataDir: at('user'),
    folder: at('images'),
    env,
    settings: { 'workbench.colorTheme': 'Dark 2026' },
  });
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumFlags });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, deviceScaleFactor: 1 });
    const opened = Date.now();
    await page.goto(server.url);
    await page.locator('a[aria-label^="Trainyard"]').first().click({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Try It on Drawn Images' }).click({ timeout: 30_000 });
    await until(page, 1, 120);
    process.stdout.write(
      `from opening the window to the first chart: ${((Date.now() - opened) / 1000).toFixed(1)} s, two clicks\n`,
    );
    await until(page, 180, 180);
    await sleep(1500);
    await page.mouse.move(700, 20);
    await page.screenshot({ path: target, animations: 'disabled' });
    process.stdout.write(`${target}\n`);
  } finally {
    await browser.close();
    await server.dispose();
    const stopped = capture(process.execPath, [cli, 'stop', 'last', '--now'], {
      env: { ...process.env, ...env },
    });
    if (!stopped.ok) process.stderr.write(`the run was over already: ${stopped.stderr}`);
    rmSync(folder, { recursive: true, force: true });
  }
});
