// The tests of test/editor/host in VS Code itself, where there is one: $VSCODE_PATH, `code`, or a
// download on request.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { bundleEditorTests } from '../../scripts/editor/bundle.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { capture, main } from '../../scripts/lib/shell.mjs';

async function findVsCode() {
  if (process.env.VSCODE_PATH) return process.env.VSCODE_PATH;
  const command = capture('sh', ['-c', 'command -v code']).stdout.trim();
  if (command !== '')
    return capture('readlink', ['-f', command])
      .stdout.trim()
      .replace(/\/bin\/code$/, '/code');
  return process.env.TRAINYARD_VSCODE_DOWNLOAD === '1' ? await downloadAndUnzipVSCode() : undefined;
}

main(async () => {
  const vscodeExecutablePath = await findVsCode();
  if (!vscodeExecutablePath) {
    process.stdout.write(
      'skipped: no VS Code here. Name one with VSCODE_PATH, or set TRAINYARD_VSCODE_DOWNLOAD=1.\n',
    );
    return;
  }
  const { suite } = await bundleEditorTests();
  const folder = mkdtempSync(join(tmpdir(), 'ty-electron-'));
  const result = join(folder, 'result.json');
  try {
    await runTests({
      vscodeExecutablePath,
      extensionDevelopmentPath: root,
      extensionTestsPath: suite,
      launchArgs: ['--disable-workspace-trust', '--user-data-dir', join(folder, 'user')],
      extensionTestsEnv: { TRAINYARD_TEST_RESULT: result, TRAINYARD_HOME: join(folder, 'home') },
    });
    const tests = JSON.parse(readFileSync(result, 'utf8'));
    const failed = tests.filter(({ error }) => error !== undefined);
    for (const { title, error } of failed) process.stderr.write(`${title}\n${error}\n\n`);
    process.stdout.write(`${tests.length - failed.length} passed, ${failed.length} failed\n`);
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
