// Opens the demo in an editor with the extension of this clone: VS Code where there is one, else one in the browser. Beside it
// stands a small starter that runs the extension's own demo command once, so that the training begins by itself.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkExtension, startCodeServer } from '../lib/codeServer.mjs';
import { root } from '../lib/paths.mjs';
import { has, run, step } from '../lib/shell.mjs';

/** A copy of its own for each demo: it runs the command only once, also when the window is reloaded. */
function makeStarter(folder) {
  const starter = join(folder, 'demo-starter');
  cpSync(join(root, 'scripts', 'demo', 'starter'), starter, { recursive: true });
  return starter;
}

function openVsCode(data, folder) {
  step('opening VS Code');
  const development = [root, makeStarter(folder)].map((path) => `--extensionDevelopmentPath=${path}`);
  run('code', ['--new-window', ...development, data]);
  process.stdout.write('The training starts in the window that opens, and its dashboard with it.\n');
}

/** Until Ctrl-C or SIGTERM. */
function interrupted() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
  });
}

async function serveWorkbench(data, folder) {
  const extensionsDir = join(folder, 'extensions');
  linkExtension(extensionsDir, 'trainyard', root);
  linkExtension(extensionsDir, 'demo-starter', makeStarter(folder));
  const stop = interrupted();
  const server = await startCodeServer({ extensionsDir, userDataDir: join(folder, 'user'), folder: data });
  try {
    process.stdout.write(
      `\nVS Code was not found; here is one for the browser:\n\n  ${server.url}\n\nThe training starts when it opens. Ctrl-C ends the editor; the run goes on (npx trainyard stop last).\n`,
    );
    await Promise.race([stop, server.ended]);
  } finally {
    await server.dispose();
  }
}

export async function openEditor(data) {
  const folder = mkdtempSync(join(tmpdir(), 'ty-demo-'));
  if (has('code')) {
    openVsCode(data, folder); // the window reads the starter after this script's end, so its folder stays
    return;
  }
  try {
    await serveWorkbench(data, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
