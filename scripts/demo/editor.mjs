// Opens the demo in VS Code with the extension of this clone.
import { root } from '../lib/paths.mjs';
import { has, run, step } from '../lib/shell.mjs';

export function openEditor(data) {
  if (!has('code'))
    throw new Error(
      "VS Code's command 'code' was not found. Install VS Code, or run: npm run demo -- --headless",
    );
  step('opening VS Code');
  run('code', ['--new-window', `--extensionDevelopmentPath=${root}`, data]);
  process.stdout.write(
    `Open the Trainyard view in the activity bar and choose Run Training; the images are in ${data}.\n`,
  );
}
