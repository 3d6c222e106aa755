// package.json against src/contributions.ts: none missing either way, and everything that is named
// is declared.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commandIds,
  contextKeys,
  contextValues,
  languageToolNames,
  panelTypes,
  settingDefaults,
  terminalProfileId,
  taskType,
  viewIds,
  walkthroughId,
} from '../../src/contributions.js';
import { languageTools } from '../../src/core/assist/manifest.js';
import { taskSchema } from '../../src/core/contracts/taskSchema.js';
import manifest from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
const { contributes } = manifest;

/** Whether a `when` clause lets an item of this context value through. */
function matches(when: string, value: string): boolean {
  const pattern = /viewItem =~ \/(.+?)\/(?: |$)/.exec(when)?.[1];
  if (pattern !== undefined) return new RegExp(pattern.replace(/\\\\/g, '\\')).test(value);
  return /viewItem == ([\w.]+)/.exec(when)?.[1] === value;
}

describe('package.json', () => {
  it('contributes the commands of the table, each once', () => {
    expect(contributes.commands.map(({ command }) => command).sort()).toEqual([...commandIds].sort());
    for (const { title, category } of contributes.commands) {
      expect(title).not.toBe('');
      expect(category).toBe('Trainyard');
    }
  });

  it('contributes the views', () => {
    const views = Object.values(contributes.views).flat();
    expect(views.map(({ id }) => id).sort()).toEqual(Object.values(viewIds).sort());
    expect(Object.keys(contributes.views)).toEqual(
      contributes.viewsContainers.activitybar.map(({ id }) => id),
    );
  });

  it('declares the settings with the type and default of the code', () => {
    const declared = Object.entries(contributes.configuration.properties);
    expect(Object.fromEntries(declared.map(([id, property]) => [id, property.default]))).toEqual(
      settingDefaults,
    );
    for (const [id, property] of declared) {
      expect(property.type, id).toBe(typeof settingDefaults[id as keyof typeof settingDefaults]);
      const naming = property.type === 'string' || property.type === 'number';
      if (naming) {
        expect(['machine', 'application'], `${id}: not for a workspace to set`).toContain(property.scope);
      }
      expect(property.markdownDescription, id).not.toBe('');
    }
  });

  it('says in the contracts what each kind of notification is', () => {
    const contract = readFileSync(join(root, 'docs/contracts/cli.md'), 'utf8');
    const kinds = Object.keys(settingDefaults).flatMap(
      (id) => /^trainyard\.notifications\.(\w+)$/.exec(id)?.[1] ?? [],
    );
    expect(kinds.length).toBeGreaterThan(4);
    for (const kind of kinds) expect(contract).toContain(`| \`${kind}\` |`);
  });

  it('has each command and setting in docs/editor.md', () => {
    const page = readFileSync(join(root, 'docs/editor.md'), 'utf8').replace(/\s+/g, ' ');
    for (const { title } of contributes.commands) expect(page).toContain(`*${title}*`);
    const settings = Object.keys(settingDefaults).filter((id) => !id.startsWith('trainyard.notifications.'));
    for (const id of settings) expect(page).toContain(`\`${id}\``);
  });

  it('names only commands, views and context values that exist', () => {
    for (const { enablement } of contributes.commands.filter((each) => 'enablement' in each)) {
      expect(Object.values(contextKeys)).toContain(enablement);
    }
    const entries = Object.values(contributes.menus).flat();
    for (const { command, when } of entries) {
      expect(commandIds).toContain(command);
      for (const [key] of when.matchAll(/trainyard\.(has|can)\w+/g)) {
        expect(Object.values(contextKeys), when).toContain(key);
      }
      for (const [, view] of when.matchAll(/view == ([\w.]+)/g)) {
        expect(Object.values(viewIds)).toContain(view);
      }
      for (const [, value] of when.matchAll(/viewItem == ([\w.]+)/g)) {
        expect(Object.values(contextValues)).toContain(value);
      }
    }
    for (const { view, when, contents } of contributes.viewsWelcome) {
      // A view is drawn a moment after its badge, and would say the contrary of it meanwhile.
      if (view !== viewIds.clusters) expect(when, view).toBe(`!${contextKeys.hasRuns}`);
      expect(Object.values(viewIds)).toContain(view);
      for (const [, command] of contents.matchAll(/\(command:([\w.]+)\)/g)) {
        expect(commandIds).toContain(command);
      }
    }
  });

  it('declares the fields of a task that the code reads, with what they mean', () => {
    const [task, ...others] = contributes.taskDefinitions;
    expect(others).toEqual([]);
    expect(task?.type).toBe(taskType);
    const properties: Record<string, { description: string }> = task?.properties ?? {};
    expect(Object.keys(properties).sort()).toEqual(Object.keys(taskSchema.shape).sort());
    const contract = readFileSync(join(root, 'docs/contracts/tasks.md'), 'utf8');
    for (const [name, { description }] of Object.entries(properties)) {
      expect(description, name).toMatch(/\.$/);
      expect(contract).toContain(`\n| \`${name}\` |`);
    }
  });

  it('declares the tools of language models as the core has them', () => {
    expect(contributes.languageModelTools, 'run npm run schema').toEqual(languageTools());
    expect(contributes.languageModelTools.map(({ name }) => name)).toEqual(languageToolNames);
  });

  it('offers at most three inline actions on an item', () => {
    for (const value of Object.values(contextValues)) {
      const inline = contributes.menus['view/item/context'].filter(
        ({ when, group }) => group.startsWith('inline') && matches(when, value),
      );
      const runsOnly = inline.filter(({ when }) => when.includes('trainyard.runs'));
      expect(Math.max(runsOnly.length, inline.length - runsOnly.length), value).toBeLessThanOrEqual(3);
    }
  });

  it('brings its panels back and has a walkthrough of five steps', () => {
    for (const type of Object.values(panelTypes)) {
      expect(manifest.activationEvents).toContain(`onWebviewPanel:${type}`);
    }
    const [walkthrough] = contributes.walkthroughs;
    expect(`trainyard.${walkthrough?.id ?? ''}`).toBe(walkthroughId);
    expect(walkthrough?.steps).toHaveLength(5);
    for (const { description, media, completionEvents } of walkthrough?.steps ?? []) {
      // What was done counts, not that its button was pressed.
      for (const event of completionEvents) {
        const [, kind, id = ''] = /^on(\w+):(.+)$/.exec(event) ?? [];
        expect(kind === 'View' ? Object.values(viewIds) : Object.values(contextKeys)).toContain(id);
      }
      expect(existsSync(join(root, media.markdown)), media.markdown).toBe(true);
      for (const [, command] of description.matchAll(/\(command:([\w.]+)\)/g)) {
        if (command?.endsWith('.focus') !== true) expect(commandIds).toContain(command);
      }
    }
  });

  it('offers a terminal on a node by the name that the code provides', () => {
    expect(contributes.terminal.profiles.map(({ id }) => id)).toEqual([terminalProfileId]);
  });

  it('names only files that exist', () => {
    const icons = [
      ...contributes.viewsContainers.activitybar,
      ...Object.values(contributes.views).flat(),
    ].map(({ icon }) => icon);
    for (const path of [...icons, ...contributes.jsonValidation.map(({ url }) => url)]) {
      expect(existsSync(join(root, path)), path).toBe(true);
    }
  });

  it('is what the code uses: every setting is read, every command handled', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'contributions.ts')
      .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
      .join('\n');
    for (const id of [...Object.keys(settingDefaults), ...commandIds]) {
      expect(sources, id).toContain(`'${id}'`);
    }
  });

  it('has no dependency that is not bundled', () => {
    expect(manifest).not.toHaveProperty('dependencies');
  });
});
