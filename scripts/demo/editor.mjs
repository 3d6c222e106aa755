// Opens the demo in an editor with the extension of this clone: VS Code where there is one, else
// one in the browser. Beside it stands a small starter that runs the extension's own demo command
// once, so that the training begins by itself.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkExtension, startCodeServer } from '../editor/codeServer.mjs';
import { root } from '../lib/paths.mjs';
import { has, run, step } from '../lib/shell.mjs';

/** @typedef {{ home: string, profile: string, words: string[] }} DemoCluster */

/**
 * A copy of its own for each demo: it runs the command only once, also when the window is reloaded.
 * @param {string} folder
 */
function makeStarter(folder) {
  const starter = join(folder, 'demo-starter');
  cpSync(join(root, 'scripts/demo/starter'), starter, { recursive: true });
  return starter;
}

/**
 * @param {string} data
 * @param {string} folder
 * @param {Record<string, string>} env
 */
function openVsCode(data, folder, env) {
  step('opening VS Code');
  const development = [root, makeStarter(folder)].map((path) => `--extensionDevelopmentPath=${path}`);
  run('code', ['--new-window', ...development, data], { env: { ...process.env, ...env } });
  process.stdout.write('The training starts in the window that opens, and its dashboard with it.\n');
}

/**
 * Until Ctrl-C or SIGTERM.
 * @returns {Promise<unknown>}
 */
function interrupted() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
  });
}

/**
 * @param {string} data
 * @param {string} folder
 * @param {Record<string, string>} env
 */
async function serveWorkbench(data, folder, env) {
  const extensionsDir = join(folder, 'extensions');
  linkExtension(extensionsDir, 'trainyard', root);
  linkExtension(extensionsDir, 'demo-starter', makeStarter(folder));
  const stop = interrupted();
  const server = await startCodeServer({
    extensionsDir,
    userDataDir: join(folder, 'user'),
    folder: data,
    env,
  });
  try {
    process.stdout.write(
      `\nVS Code was not found; here is one for the browser:\n\n  ${server.url}\n\nThe training starts when it opens. Ctrl-C ends the editor; the run goes on (npx trainyard stop last).\n`,
    );
    await Promise.race([stop, server.ended]);
  } finally {
    await server.dispose();
  }
}

/**
 * `cluster`: Trainyard's own folder for it, its profile, and what to train there; this machine when
 * left out.
 * @param {string} data
 * @param {DemoCluster} [cluster]
 */
export async function openEditor(data, cluster) {
  const folder = mkdtempSync(join(tmpdir(), 'ty-demo-'));
  /** @type {Record<string, string>} */
  const env = cluster
    ? {
        TRAINYARD_HOME: cluster.home,
        TRAINYARD_DEMO_PROFILE: cluster.profile,
        TRAINYARD_DEMO_WORDS: JSON.stringify(cluster.words),
      }
    : {};
  if (has('code')) {
    openVsCode(data, folder, env); // the window reads the starter after this script's end, so its folder stays
    if (cluster) await interrupted(); // the cluster is there as long as this script
    return;
  }
  try {
    await serveWorkbench(data, folder, env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
