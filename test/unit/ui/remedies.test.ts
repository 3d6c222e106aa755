// Every remedy in the editor: its words, and that its button executes what it says.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { commandIds } from '../../../src/contributions.js';
import { UserError } from '../../../src/core/base/errors.js';
import { nodePath } from '../../../src/core/base/nodePath.js';
import type { Remedy } from '../../../src/core/base/remedy.js';
import { showError } from '../../../src/ui/commands/showError.js';
import { editorRemedy, errorWords } from '../../../src/ui/remedies.js';
import { everyRemedy, sentenceWithoutStop, stop } from '../support/remedies.js';

const editor = vi.hoisted(() => ({
  /** The title of the button that the user presses. */
  answer: undefined as string | undefined,
  shown: [] as string[][],
  executed: [] as unknown[][],
}));

vi.mock('vscode', () => ({
  window: {
    showErrorMessage: (...words: string[]) => {
      editor.shown.push(words);
      return Promise.resolve(words.slice(1).find((title) => title === editor.answer));
    },
  },
  commands: {
    executeCommand: (...words: unknown[]) => {
      editor.executed.push(words);
      return words[0] === 'trainyard.runs.focus'
        ? Promise.reject(new Error('no such view'))
        : Promise.resolve();
    },
  },
}));

const ssh = (name: string, ...hosts: string[]): object => ({
  name,
  kind: 'ssh',
  hosts: hosts.map((host) => ({ host, proxyJump: `me@jump-of-${name}:22, second` })),
});
const logged: string[] = [];
let outputs = 0;
const ui = {
  services: {
    backend: () =>
      Promise.resolve({
        profiles: () => ({
          contents: () =>
            Promise.resolve({ profiles: [ssh('lab', 'gpu1', 'both'), ssh('other', 'both')], broken: [] }),
        }),
      }),
    logger: { log: (_level: string, text: string) => logged.push(text) },
  },
  showOutput: () => {
    outputs++;
  },
} as unknown as Parameters<typeof showError>[0];

const show = (remedy: Remedy): Promise<boolean> => showError(ui, new UserError('usage', 'it broke', remedy));

beforeEach(() => {
  editor.answer = undefined;
  editor.shown.length = 0;
  editor.executed.length = 0;
  outputs = 0;
});

describe('remedies in the editor', () => {
  it.each(everyRemedy)('says what to do, and offers commands that there are: $kind', async (remedy) => {
    const { text, button } = editorRemedy(remedy);
    expect(text).toMatch(sentenceWithoutStop);
    expect(text).not.toMatch(/undefined|\[object|trainyard [a-z]|npm run|--(ranks|nodes|name)/);
    const error = new UserError('usage', 'it broke', remedy);
    expect(errorWords(error)).toBe(`it broke. ${text}${stop(text)}`);
    await showError(ui, error);
    const titles = [...new Set([button?.title, 'Show Output'])].filter((title) => title !== undefined);
    expect(editor.shown).toEqual([[`it broke. ${text}${stop(text)}`, ...titles]]);
    expect(editor.executed).toEqual([]); // nothing was pressed
    const own = commandIds as readonly string[];
    for (const { id } of button?.commands ?? []) {
      if (id !== 'trainyard.runs.focus' && id !== 'workbench.extensions.search') expect(own).toContain(id);
    }
  });

  it('the button opens the profile at the field; the profile is found by its host', async () => {
    editor.answer = 'Open Profile';
    await show({ kind: 'useOwnSsh', host: 'gpu1' });
    await show({ kind: 'moreSpace', profile: 'lab' });
    await show({ kind: 'useOwnSsh', host: 'both' }); // two profiles have it: the command asks
    await show({ kind: 'useOwnSsh', host: 'nowhere' });
    await show({ kind: 'useOwnSsh', host: 'jump-of-other' });
    expect(editor.executed).toEqual([
      ['trainyard.editProfile', { profile: 'lab', host: 'gpu1', field: 'transport' }],
      ['trainyard.editProfile', { profile: 'lab', field: 'workdir' }],
      ['trainyard.editProfile'],
      ['trainyard.editProfile'],
      ['trainyard.editProfile', { profile: 'other', host: 'jump-of-other', field: 'transport' }],
    ]);
  });

  it('the button chooses a key for the host', async () => {
    editor.answer = 'Choose Key…';
    for (const kind of ['correctKeyFile', 'otherKeyFile', 'nameKeyFile', 'chooseKeyFile'] as const) {
      await show({ kind, host: 'gpu1' });
    }
    const chosen = ['trainyard.chooseKey', { profile: 'lab', host: 'gpu1' }];
    expect(editor.executed).toEqual([chosen, chosen, chosen, chosen]);
  });

  it('the button starts the run again with as many ranks as there is room for', async () => {
    editor.answer = 'Use 2 Ranks';
    await show({
      kind: 'fewerRanks',
      profile: 'lab',
      ranks: 2,
      words: ['train', '--data', '/d'],
      moreSlots: true,
    });
    expect(editor.executed).toEqual([
      ['trainyard.runTraining', { profile: 'lab', words: ['train', '--data', '/d'], ranks: 2 }],
    ]);
  });

  it('the button goes on with a run on hosts that are left', async () => {
    editor.answer = 'Resume on gpu1, gpu3';
    const run = { profile: 'lab', id: 'r1', dir: nodePath('/r1') };
    await show({ kind: 'otherHosts', hosts: ['gpu1', 'gpu3'], resume: run });
    expect(editor.executed).toEqual([['trainyard.resumeRun', { ...run, hosts: ['gpu1', 'gpu3'] }]]);
  });

  it('the button disconnects, then connects, where a login was given up', async () => {
    editor.answer = 'Reconnect';
    await show({ kind: 'askAgain', host: 'gpu1' });
    const place = { profile: 'lab', host: 'gpu1' };
    expect(editor.executed).toEqual([
      ['trainyard.disconnect', place],
      ['trainyard.connect', place],
    ]);
  });

  it('offers one button for the output, also where the remedy is the output', async () => {
    editor.answer = 'Show Output';
    await show({ kind: 'report', tryFirst: false });
    await showError(ui, new Error('plain'));
    expect(editor.shown).toEqual([
      ['it broke. Report this with the output.', 'Show Output'],
      ['plain', 'Show Output'],
    ]);
    expect([outputs, editor.executed]).toEqual([2, []]);
  });

  it('logs what a button could not do', async () => {
    editor.answer = 'Show Runs';
    await show({ kind: 'chooseRun', newest: 'r2' });
    expect(logged.join('\n')).toContain('Show Runs: no such view');
    expect(outputs).toBe(1);
  });
});
