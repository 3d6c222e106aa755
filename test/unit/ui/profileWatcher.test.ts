// What is said while somebody edits the profile file with auto save: one error, not one a save.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { nullLogger } from '../../../src/core/base/log.js';
import { Clusters } from '../../../src/core/follow/clusters.js';
import { ProfileStore } from '../../../src/core/profiles/store.js';
import type { Machine } from '../../../src/core/cluster/nodes/machine.js';
import type { Ui } from '../../../src/ui/commands/ui.js';
import { ProfileWatcher } from '../../../src/ui/profileWatcher.js';

const editor = vi.hoisted(() => ({
  changed: [] as (() => void)[],
  shown: [] as string[][],
  warned: [] as string[][],
  done: [] as unknown[],
}));
vi.mock('vscode', () => {
  const nothing = (): { dispose: () => void } => ({ dispose: () => undefined });
  return {
    RelativePattern: vi.fn(),
    Uri: { file: (path: string) => ({ path }) },
    workspace: {
      createFileSystemWatcher: () => ({
        ...nothing(),
        onDidChange: (use: () => void) => {
          editor.changed.push(use);
          return nothing();
        },
        onDidCreate: nothing,
        onDidDelete: nothing,
      }),
    },
    window: {
      showErrorMessage: (...words: string[]) => {
        editor.shown.push(words);
        return Promise.resolve(words[1]);
      },
      showWarningMessage: (...words: string[]) => {
        editor.warned.push(words);
        return Promise.resolve(words[1]);
      },
    },
    commands: {
      executeCommand: (...all: unknown[]) => {
        editor.done.push(all);
        return Promise.resolve();
      },
    },
  };
});

const home = mkdtempSync(join(tmpdir(), 'trainyard-watcher-'));
const file = join(home, 'profiles.json');
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

const store = (): ProfileStore => new ProfileStore(home);

function watch(clusters: Clusters): ProfileWatcher {
  const services = {
    logger: nullLogger,
    onBackend: (use: (backend: object) => void) => {
      use({ clusters, profiles: store });
      return { dispose: () => undefined };
    },
  };
  return new ProfileWatcher({ services, showOutput: () => undefined } as unknown as Ui, 1);
}

/** Writes the profiles, and waits until they were read. */
function saverFor(clusters: Clusters): (text: string) => Promise<void> {
  const list = vi.spyOn(clusters, 'list');
  return async (text) => {
    const looks = list.mock.calls.length;
    writeFileSync(file, text);
    for (const changed of editor.changed) changed();
    await vi.waitFor(() => {
      expect(list.mock.calls.length).toBeGreaterThan(looks);
    });
    await Promise.allSettled(list.mock.results.map(({ value }) => value as Promise<unknown>));
    await new Promise((wake) => setImmediate(wake));
  };
}

it('says once that the file is wrong, with a button that opens it, until it is right again', async () => {
  const clusters = new Clusters(store, () => {
    throw new Error('nobody connects here');
  });
  const watcher = watch(clusters);
  const save = saverFor(clusters);
  const right = '{\n"version": 1, "profiles": [{ "name": "lab", "kind": "local" }] }';
  await save(right);
  expect(editor.shown).toEqual([]);
  for (const typed of ['"na', '"name', '"name": "lab']) {
    await save(`{\n"version": 1, "profiles": [{ ${typed}`);
  }
  await save('{\n"version": 1, "profiles": [{ "name": "lab", "kind": "lo" }] }');
  expect(editor.shown).toHaveLength(1);
  expect(editor.shown[0]?.slice(1)).toEqual(['Open Profiles', 'Show Output']);
  expect(editor.shown[0]?.[0]).toContain(`${file}:2: `);
  expect(editor.done).toEqual([['trainyard.openProfiles', { line: 2 }]]);
  expect((await clusters.list()).map(({ profile }) => profile.name)).toEqual(['local', 'lab']);
  await save(right);
  await save('');
  expect(editor.shown).toHaveLength(2);
  watcher.dispose();
  clusters.dispose();
});

it('says once that a connected profile was changed in what its connection keeps, with Reconnect', async () => {
  editor.changed.length = 0;
  editor.done.length = 0;
  const machine = {
    node: { hello: () => Promise.resolve({ cores: 2, host: 'gpu1' }) },
    dispose: () => undefined,
  };
  const clusters = new Clusters(store, () => machine as unknown as Machine);
  const watcher = watch(clusters);
  const saveText = saverFor(clusters);
  const save = (more: object): Promise<void> => {
    const profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }], ...more };
    return saveText(JSON.stringify({ version: 1, profiles: [profile] }));
  };
  await save({});
  await save({ hosts: [{ host: 'gpu1', address: '10.0.0.4' }] });
  expect(editor.warned).toEqual([]); // nothing is connected
  const session = await clusters.get('lab');
  await session.machine();
  await save({ hosts: [{ host: 'gpu1', address: '10.0.0.4' }], portRange: '48000-48100' });
  expect(editor.warned).toEqual([]); // that goes with each run
  const hosts = [{ host: 'gpu1', address: '10.0.0.5' }];
  await save({ hosts });
  await save({ hosts, portRange: '48000-48100' });
  expect(editor.warned).toEqual([
    ['Profile lab was changed, and is connected as it was before', 'Reconnect'],
  ]);
  expect(editor.done).toEqual([
    ['trainyard.disconnect', { profile: 'lab' }],
    ['trainyard.connect', { profile: 'lab' }],
  ]);
  session.disconnect();
  await session.machine();
  await save({ hosts });
  expect(editor.warned).toHaveLength(1);
  watcher.dispose();
  clusters.dispose();
});
