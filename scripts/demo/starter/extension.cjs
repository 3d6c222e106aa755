const { existsSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const vscode = require('vscode');

exports.activate = async ({ extensionPath }) => {
  const mark = join(extensionPath, 'started');
  if (existsSync(mark)) return;
  writeFileSync(mark, '');
  await vscode.commands.executeCommand('workbench.view.extension.trainyard');
  const profile = process.env.TRAINYARD_DEMO_PROFILE;
  if (profile === undefined) await vscode.commands.executeCommand('trainyard.runDemo');
  else
    await vscode.commands.executeCommand('trainyard.runTraining', {
      profile,
      words: JSON.parse(process.env.TRAINYARD_DEMO_WORDS),
    });
};
