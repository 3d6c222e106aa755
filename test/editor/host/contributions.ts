// What package.json promises, asked of a running editor.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import {
  commandIds,
  languageToolNames,
  panelTypes,
  settingDefaults,
  viewIds,
} from '../../../src/contributions.js';
import { extensionId } from '../driver/protocol.js';

interface Manifest {
  contributes: {
    commands: { command: string }[];
    views: Record<string, { id: string }[]>;
  };
}

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension(extensionId);
  assert.ok(found, `${extensionId} is not installed`);
  return found;
}

const manifest = (): Manifest => extension().packageJSON as Manifest;
/** The workbench makes these for every view; they are nobody's commands. */
const ofViews = new Set(
  Object.values(viewIds).flatMap((id) =>
    ['focus', 'open', 'removeView', 'resetViewLocation', 'toggleVisibility'].map((verb) => `${id}.${verb}`),
  ),
);

async function registered(): Promise<string[]> {
  const all = await vscode.commands.getCommands(true);
  return all.filter((id) => id.startsWith('trainyard.') && !ofViews.has(id)).sort();
}

export function defineContributionTests(): void {
  describe('the extension', () => {
    before(() => extension().activate());

    it('is active and says what its views show', async () => {
      assert.equal(extension().isActive, true);
      const api = extension().exports as { snapshot?: () => Promise<unknown> };
      assert.equal(typeof api.snapshot, 'function');
      assert.ok(await api.snapshot?.());
    });

    it('registers every command that it contributes, and no other', async () => {
      const contributed = manifest().contributes.commands.map(({ command }) => command);
      assert.deepEqual(await registered(), contributed.sort());
      assert.deepEqual([...commandIds].sort(), contributed);
    });

    for (const id of Object.values(viewIds)) {
      it(`shows the view ${id}`, async () => {
        const declared = Object.values(manifest().contributes.views).flat();
        assert.ok(declared.some((view) => view.id === id));
        await vscode.commands.executeCommand(`${id}.focus`);
      });
    }

    for (const [key, value] of Object.entries(settingDefaults)) {
      it(`has a default for ${key}`, () => {
        const found = vscode.workspace.getConfiguration().inspect(key);
        assert.deepEqual(found?.defaultValue, value);
      });
    }

    it('offers its tools to language models, and answers one', async () => {
      const offered = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith('trainyard_'));
      assert.deepEqual(offered.sort(), [...languageToolNames].sort());
      const options = { input: {}, toolInvocationToken: undefined };
      const { content } = await vscode.lm.invokeTool('trainyard_list_profiles', options);
      const [first] = content;
      assert.ok(first instanceof vscode.LanguageModelTextPart);
      assert.match(first.value, /"name":"local"/);
    });

    it('wakes up for the panels that a reload leaves', () => {
      const events = (extension().packageJSON as { activationEvents: string[] }).activationEvents;
      for (const type of Object.values(panelTypes)) assert.ok(events.includes(`onWebviewPanel:${type}`));
    });
  });
}
