// Every entry of the views' menus is clicked in a test of the editor, and has a place of its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contextValues } from '../../src/contributions.js';
import { allClicks, elsewhere } from '../editor/menus/clicks.js';
import { menuEntries } from '../editor/menus/entries.js';
import manifest from '../../package.json' with { type: 'json' };

const { commands, menus } = manifest.contributes;

it('clicks every entry, and each once', () => {
  const keys = [...allClicks.flatMap((clicks) => Object.keys(clicks)), ...Object.keys(elsewhere)];
  expect([...new Set(keys)]).toHaveLength(keys.length);
  const contributed = menuEntries.map(({ key }) => key);
  expect([...new Set(contributed)]).toHaveLength(contributed.length);
  expect(keys.sort()).toEqual(contributed.sort());
});

it('names what is clicked elsewhere as it is clicked there', () => {
  for (const [key, [file, words]] of Object.entries(elsewhere)) {
    const text = readFileSync(join(import.meta.dirname, '../editor', file), 'utf8');
    expect(text, key).toContain(words);
  }
});

/** Whether an item of this context value has the entry. */
function isOn(when: string, value: string): boolean {
  const pattern = /viewItem =~ \/(\S+)\/$/.exec(when)?.[1];
  if (pattern !== undefined) return new RegExp(pattern).test(value);
  return /viewItem == (\S+)$/.exec(when)?.[1] === value;
}

it('gives no two entries of an item, or of a view, the same place', () => {
  for (const value of ['', ...Object.values(contextValues)]) {
    const places = menuEntries
      .filter(({ when }) => (value === '' ? !when.includes('viewItem') : isOn(when, value)))
      .map(({ view, group }) => `${view} ${group}`);
    expect([...new Set(places)].sort(), value).toEqual(places.sort());
  }
});

it('gives every kind of item a menu, but the row of what is no more', () => {
  const entries = menuEntries.filter(({ place }) => place === 'menu');
  const bare = Object.values(contextValues).filter((value) => !entries.some(({ when }) => isOn(when, value)));
  expect(bare).toEqual([contextValues.note]);
});

it('offers what needs something only where that is there', () => {
  const hidden = new Set(menus.commandPalette.map(({ command }) => command));
  const always = commands.filter((each) => !('enablement' in each) && !hidden.has(each.command));
  expect(always.map(({ command }) => command.replace('trainyard.', '')).sort()).toEqual([
    ...['addCluster', 'addProfile', 'attachRun', 'checkProfile', 'duplicateProfile'],
    ...['findBestSettings', 'importProfile', 'measureScaling'],
    ...[
      'newRun',
      'openProfiles',
      'openReport',
      'refresh',
      'runDemo',
      'runOnCluster',
      'runSweep',
      'runTraining',
      'showOutput',
    ],
    'trainOnFolder',
  ]);
});
