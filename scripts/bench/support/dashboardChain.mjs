// From a line in a run folder to a figure on the screen: agent, extension host and page, all real;
// the run is simulated.
/* global document, performance, requestAnimationFrame */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { chromiumFlags, ensureChromium } from '../../editor/chromium.mjs';
import { shownStep } from '../../editor/shownStep.mjs';
import { ensureCodeServer, linkExtension, startCodeServer } from '../../editor/codeServer.mjs';
import { root } from '../../lib/paths.mjs';
import { SimulatedRunFolder } from './runFolder.mjs';

/** @import { Frame, Page } from 'playwright-core' */

/** @typedef {{ painted: [step: number, time: number][], frames: number[] }} Measured */

/**
 * Processor time of a process, milliseconds. Linux counts it in hundredths of a second.
 * @param {number} pid
 */
function cpuMilliseconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * The extension host whose environment names our folder.
 * @param {string} home
 */
function findExtensionHost(home) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      if (command.includes('--type=extensionHost') && environment.includes(home)) return Number(pid);
    } catch {
      // It ended just now, or is not ours to read.
    }
  }
  throw new Error('the extension host was not found');
}

/** In the page: when each step was painted, and how long frames took. */
function watchFrames() {
  /** @type {HTMLElement | null} */
  const app = document.querySelector('#app');
  /** @type {Measured} */
  const measured = { painted: [], frames: [] };
  Object.assign(globalThis, { measured });
  let before = app?.dataset['step'];
  let last = performance.now();
  /** @param {number} now */
  const frame = (now) => {
    measured.frames.push(now - last);
    last = now;
    if (app?.dataset['step'] !== before) {
      before = app?.dataset['step'];
      measured.painted.push([Number(before), Date.now()]);
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** In the page: what watchFrames() has measured. */
const measuredThere = () =>
  /** @type {{ measured: Measured }} */ (/** @type {unknown} */ (globalThis)).measured;

/**
 * @param {Page} page
 * @returns {Promise<Frame>}
 */
async function dashboardFrame(page) {
  for (let tries = 0; tries < 300; tries++) {
    for (const frame of page.frames()) {
      if ((await shownStep(frame)) > 0) return frame;
    }
    await sleep(100);
  }
  throw new Error('no dashboard showed a step within 30 s');
}

/**
 * @param {readonly number[]} sorted
 * @param {number} share
 */
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
/** @param {readonly number[]} values */
const summary = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: at(sorted, 0.5), p95: at(sorted, 0.95), max: sorted.at(-1) ?? NaN, count: sorted.length };
};

/**
 * Milliseconds until an editor that was just opened has come to rest: its own extensions load
 * meanwhile.
 */
const settle = 20_000;

/**
 * The extension host's share of one core over a while.
 * @param {number} pid
 * @param {number} milliseconds
 */
async function hostShare(pid, milliseconds) {
  const [cpu, began] = [cpuMilliseconds(pid), Date.now()];
  await sleep(milliseconds);
  return (cpuMilliseconds(pid) - cpu) / (Date.now() - began);
}

/**
 * One measurement: `rate` steps a second with `hosts` nodes of eight GPUs, for `seconds` after it
 * has settled.
 * @param {{ rate: number, hosts: number, seconds: number }} options
 */
async function measure({ rate, hosts, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-bench-'));
  const home = join(folder, 'home');
  const extensionsDir = join(folder, 'extensions');
  for (const each of [home, extensionsDir]) mkdirSync(each);
  const profile = { name: 'local', kind: 'local', workdir: join(folder, 'work') };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  linkExtension(extensionsDir, 'trainyard.trainyard', root);
  const run = new SimulatedRunFolder(profile.workdir, { hosts });
  const server = await startCodeServer({
    extensionsDir,
    userDataDir: join(folder, 'user'),
    folder: home,
    env: { TRAINYARD_HOME: home },
    // The editor's own search for ports starts a process each second in the extension host.
    settings: { 'remote.autoForwardPorts': false },
  });
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumFlags });
  try {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(server.url);
    await page.locator('.monaco-workbench').waitFor();
    await sleep(settle);
    const idle = await hostShare(findExtensionHost(home), 8000);
    run.start(rate);
    await page.locator('a[aria-label^="Trainyard"]').first().click({ timeout: 60_000 });
    const item = page.getByRole('treeitem', { name: /simulated-0000/ }).first();
    await item.hover({ timeout: 30_000 });
    await item.getByRole('button', { name: 'Open Dashboard' }).click({ timeout: 10_000 });
    const frame = await dashboardFrame(page);
    await sleep(4000);
    const pid = findExtensionHost(home);
    await frame.evaluate(watchFrames);
    const share = await hostShare(pid, seconds * 1000);
    const { painted, frames } = await frame.evaluate(measuredThere);
    const latency = painted.flatMap(([step, time]) => {
      const written = run.written.get(step);
      return written === undefined ? [] : [time - written];
    });
    return { idle, latency: summary(latency), frames: summary(frames.slice(1)), hostShare: share };
  } finally {
    run.stop();
    await browser.close();
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Both measurements; figures in milliseconds and as a share of one core. `idle`: the host before
 * anything of ours ran.
 * @param {number} seconds
 */
export async function measureChain(seconds) {
  ensureCodeServer();
  const quiet = await measure({ rate: 10, hosts: 0, seconds });
  const busy = await measure({ rate: 100, hosts: 32, seconds });
  return { idle: Math.min(quiet.idle, busy.idle), quiet, busy };
}
