// npm run bench:activation: how large the extension is, and how long the editor waits for it. That
// is measured while a window starts and much else runs, as in use, and alone. The latter has the
// limit. Exit 1 over a limit.
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { bundleEditorTests } from '../editor/bundle.mjs';
import { chromiumFlags, ensureChromium } from '../editor/chromium.mjs';
import { listExtension, installVsix, startCodeServer } from '../editor/codeServer.mjs';
import { codeOf } from '../lib/errors.mjs';
import { loadedWithLazy } from '../build/lazyBundle.mjs';
import { root } from '../lib/paths.mjs';
import { median } from './support/statistics.mjs';
import { ensureBuilt } from '../build/prepare.mjs';
import { capture, main, run, step } from '../lib/shell.mjs';

/** @import { Page } from 'playwright-core' */

/**
 * The extension host that the tests' driver runs in.
 * @typedef {{ pid: number, socket: string }} Host
 */

const starts = 5;
const limits = { bundle: 600 * 1024, vsix: 15 * 1024 * 1024, activation: 30 };

/** What the editor loads at once and what it loads later. */
const bundleSize = () =>
  ['extension.js', ...loadedWithLazy()].reduce(
    (sum, name) => sum + statSync(join(root, 'dist', name)).size,
    0,
  );

function makeVsix() {
  const made = capture(process.execPath, [join(root, 'scripts/build/package.mjs')], { cwd: root });
  if (!made.ok) throw new Error(`no package: ${made.stderr}`);
  const vsix = made.stdout.split('\n').find((line) => line.startsWith(root) && line.endsWith('.vsix'));
  if (vsix === undefined) throw new Error(`no package: ${made.stdout}`);
  return { vsix, bundle: bundleSize() };
}

/**
 * @param {string} socket
 * @param {unknown} request
 * @returns {Promise<unknown>}
 */
function ask(socket, request) {
  return new Promise((resolve, reject) => {
    let text = '';
    const connection = createConnection(socket, () => connection.write(`${JSON.stringify(request)}\n`));
    connection.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    connection.on('error', reject).on('close', () => {
      const reply = JSON.parse(text);
      if (reply.error) reject(new Error(reply.error));
      else resolve(reply.result);
    });
  });
}

/**
 * @param {string} folder
 * @param {number | undefined} old
 */
async function newHost(folder, old) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    await pause(200);
    try {
      /** @type {Host} */
      const host = JSON.parse(readFileSync(join(folder, 'host.json'), 'utf8'));
      if (host.pid !== old) return host;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
  throw new Error('the extension host did not start within 60 s');
}

/**
 * What the editor itself measured in its extension host: loading our code and calling `activate`
 * (the time that other extensions wait). Its list of running extensions shows it.
 * @param {Page} page
 * @param {string} socket
 */
async function activationTime(page, socket) {
  const params = { id: 'workbench.action.showRuntimeExtensions', args: [] };
  await ask(socket, { method: 'command', params });
  const row = page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Trainyard' }).first();
  const text = await row.innerText({ timeout: 15_000 });
  const found = /Activation: ([\d.]+) ?ms/.exec(text);
  if (!found) throw new Error(`no activation time in: ${text}`);
  return Number(found[1]);
}

/**
 * The installed extension waits until it is asked for, and not until the window's start is over.
 * @param {string} extensions
 */
function waitForAsking(extensions) {
  for (const name of readdirSync(extensions)) {
    const path = join(extensions, name, 'package.json');
    if (!name.includes('trainyard') || name.includes('driver')) continue;
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...manifest, activationEvents: [] }));
  }
}

/**
 * Milliseconds until our extension is active, in a new extension host each time.
 * @param {string} vsix
 * @param {boolean} alone  once the window's start is over
 */
async function measure(vsix, alone) {
  const { driver } = await bundleEditorTests();
  const folder = mkdtempSync(join(tmpdir(), 'ty-bench-'));
  const folders = { extensionsDir: join(folder, 'extensions'), userDataDir: join(folder, 'user') };
  installVsix(vsix, folders);
  listExtension(folders.extensionsDir, driver);
  if (alone) waitForAsking(folders.extensionsDir);
  const server = await startCodeServer({
    ...folders,
    folder,
    env: { TRAINYARD_HOME: folder, TRAINYARD_TEST_DRIVER: folder },
  });
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumFlags });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 2600 } }); // the list renders what it shows
    /** @type {number[]} */
    const times = [];
    /** @type {Host | undefined} */
    let host;
    for (let start = 0; start < starts; start++) {
      await page.goto(server.url);
      host = await newHost(folder, host?.pid);
      await page.waitForTimeout(4000); // the other extensions' own start is over
      await ask(host.socket, { method: 'activate', params: {} });
      times.push(await activationTime(page, host.socket));
    }
    return times.sort((a, b) => a - b);
  } finally {
    await browser.close();
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {readonly number[]} times */
const textOf = (times) => times.map((ms) => ms.toFixed(1)).join(', ');

/**
 * @param {string} name
 * @param {number} value
 * @param {number} limit
 * @param {string} unit
 */
function line(name, value, limit, unit) {
  const over = value > limit ? '  OVER' : '';
  return `${name.padEnd(34)} ${value.toFixed(1).padStart(9)} ${unit}  limit ${limit} ${unit}${over}\n`;
}

main(async () => {
  ensureBuilt();
  step('packaging');
  const { vsix, bundle } = makeVsix();
  step(`activating it ${starts} times`);
  let times;
  let alone;
  try {
    times = await measure(vsix, false);
    alone = await measure(vsix, true);
  } finally {
    run(process.execPath, [join(root, 'scripts/build/build.mjs')], { cwd: root }); // packaging left the minified bundles
  }
  const middle = median(alone);
  const vsixSize = statSync(vsix).size;
  process.stdout.write(
    line('extension.js and what lazy.js loads', bundle / 1024, limits.bundle / 1024, 'KB') +
      line('VSIX', vsixSize / 1024 / 1024, limits.vsix / 1024 / 1024, 'MB') +
      line(`activation alone, median of ${starts}`, middle, limits.activation, 'ms') +
      `all of them: ${textOf(alone)} ms; while a window starts: ${textOf(times)} ms\n`,
  );
  if (bundle > limits.bundle || vsixSize > limits.vsix || middle > limits.activation) process.exitCode = 1;
});
