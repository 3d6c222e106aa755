// Commands that ask before they change a profile: what others change meanwhile stays.
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { nullLogger } from '../../../../src/core/base/log.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { ProfileStore } from '../../../../src/core/profiles/store.js';
import { Backend } from '../../../../src/ui/backend.js';
import { chooseKey } from '../../../../src/ui/commands/profiles/chooseKey.js';
import { setPrice } from '../../../../src/ui/commands/profiles/setPrice.js';
import { resumeElsewhere } from '../../../../src/ui/commands/runs/resumeElsewhere.js';
import type { Ui } from '../../../../src/ui/commands/ui.js';
import { temporaryFolder } from '../../support/temporary.js';

/** What happens while a question is on the screen, or the work goes on. */
const meanwhile = vi.hoisted(() => ({ happens: (): Promise<void> => Promise.resolve() }));
const after = async <T>(answer: T): Promise<T> => {
  await meanwhile.happens();
  return answer;
};
vi.mock('vscode', () => ({
  window: {
    showInputBox: () => after('2.50 EUR'),
    showQuickPick: (items: readonly object[]) => Promise.resolve(items[0]),
  },
}));
vi.mock('../../../../src/ui/commands/pickOrType.js', () => ({
  pickOrType: () => after({ label: 'new', path: '/keys/new' }),
}));
vi.mock('../../../../src/ui/commands/cluster/connect.js', () => ({ connect: () => Promise.resolve() }));
vi.mock('../../../../src/ui/commands/runs/resumeRun.js', () => ({ resumeRun: () => Promise.resolve() }));
vi.mock('../../../../src/ui/commands/progress.js', () => ({
  withProgress: (_title: string, work: (progress: object) => Promise<unknown>) => work({}),
}));
const entry = { id: 'r', dir: '/w/runs/r', run: null, state: null, interrupted: true };
vi.mock('../../../../src/core/cluster/moveHead.js', async (original) => ({
  ...(await original<object>()),
  runsUnder: () => Promise.resolve([entry]),
  moveHead: () => after({ details: entry }),
}));

const root = temporaryFolder();
let count = 0;
let home: string;
let backend: Backend;
let ui: Ui;
const lab: Profile = {
  name: 'lab',
  kind: 'ssh',
  hosts: [{ host: 'gpu1', identityFile: '/keys/old' }, { host: 'gpu2' }],
};
beforeEach(async () => {
  home = join(root, String(count++));
  const none = (): number => 1000;
  backend = new Backend({
    ...{ bundleDir: root, logger: nullLogger, home: () => home },
    ...{ tensorboardPort: none, interval: none },
  });
  await backend.profiles().save(lab);
  ui = {
    services: { backend: () => Promise.resolve(backend), setting: () => '', lastRuns: {} },
    clusters: { refresh: () => Promise.resolve() },
  } as unknown as Ui;
  const memory = { get: () => undefined, update: () => Promise.resolve(), keys: () => [] };
  Object.assign(ui.services, { context: { globalState: memory, workspaceState: memory } });
  // The command line, or another window, adds a host and a folder.
  meanwhile.happens = async () => {
    const other = new ProfileStore(home);
    const now = await other.get('lab');
    await other.save({ ...now, hosts: [...(now.hosts ?? []), { host: 'gpu3' }], workdir: '/new' });
  };
  return () => {
    backend.dispose();
  };
});

it('has one store for each home', () => {
  const first = backend.profiles();
  expect(backend.profiles()).toBe(first);
  home = join(root, 'elsewhere');
  expect(backend.profiles()).not.toBe(first);
});

it('Set Price', async () => {
  await setPrice(ui, { profile: 'lab' });
  expect(await backend.profiles().get('lab')).toEqual({
    ...{ ...lab, workdir: '/new', pricePerNodeHour: 2.5, currency: 'EUR' },
    hosts: [...(lab.hosts ?? []), { host: 'gpu3' }],
  });
});

it('Choose Key', async () => {
  await chooseKey(ui, { profile: 'lab', host: 'gpu1' });
  expect(await backend.profiles().get('lab')).toEqual({
    ...{ ...lab, workdir: '/new' },
    hosts: [{ host: 'gpu1', identityFile: '/keys/new' }, { host: 'gpu2' }, { host: 'gpu3' }],
  });
});

it('Resume on Another Head', async () => {
  const trial = { machine: () => Promise.resolve({}), dispose: () => undefined, profile: lab };
  vi.spyOn(backend, 'trial').mockReturnValue(trial as unknown as ReturnType<Backend['trial']>);
  vi.spyOn(backend.clusters, 'adopt').mockReturnValue(undefined);
  await resumeElsewhere(ui, { profile: 'lab' });
  expect(await backend.profiles().get('lab')).toEqual({
    ...{ ...lab, workdir: '/new', head: 'gpu2' },
    hosts: [...(lab.hosts ?? []), { host: 'gpu3' }],
  });
});
