// The run form's session beside a real profile file and this machine's own agent: what the form
// shows while profiles are added and connections end and begin.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { nullLogger } from '../../../../src/core/base/log.js';
import { pathOfThisNode, type NodePath } from '../../../../src/core/base/nodePath.js';
import { LocalMachine } from '../../../../src/core/cluster/localMachine.js';
import { Clusters } from '../../../../src/core/follow/clusters.js';
import { offeredFlags, type TrainerFlag } from '../../../../src/core/plan/request/trainerHelp.js';
import { ProfileStore } from '../../../../src/core/profiles/store.js';
import type { Backend } from '../../../../src/ui/backend.js';
import { FormSession } from '../../../../src/ui/form/formSession.js';
import type { FormStart } from '../../../../src/ui/form/runForms.js';
import type { Services } from '../../../../src/ui/services.js';
import type { FormView } from '../../../../src/webview/formProtocol.js';

vi.mock('vscode', () => ({
  workspace: { workspaceFolders: undefined, isTrusted: true },
  Uri: { file: (path: string) => ({ path, fsPath: path }) },
}));

const bundleDir = join(import.meta.dirname, '../../../../dist');
const isBuilt = existsSync(join(bundleDir, 'bin/agent'));
const home = mkdtempSync(join(tmpdir(), 'trainyard-form-'));
mkdirSync(join(home, 'images/train/cats'), { recursive: true });
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
});

const lab = { name: 'lab1', kind: 'ssh' as const, hosts: [{ host: '127.0.0.1' }] };
let store: ProfileStore;
let clusters: Clusters;
let form: FormSession;

/** Its trainer is not asked, since the programs would be unpacked first. */
class Here extends LocalMachine {
  override trainerFlags(verb: string): Promise<TrainerFlag[]> {
    return Promise.resolve(offeredFlags(verb, 'train a network\n  --epochs INT=10  passes over the data\n'));
  }
}

/** It ends with the test. */
function opened(from: FormStart | undefined): FormSession {
  const nothing = { dispose: () => undefined };
  const services = {
    setting: () => '',
    logger: nullLogger,
    context: {
      workspaceState: { get: () => undefined, update: () => Promise.resolve() },
      globalState: { get: () => undefined },
    },
  };
  const backend = { clusters, monitor: { all: [], onChange: () => nothing } };
  const made = new FormSession(services as unknown as Services, backend as unknown as Backend, from);
  onTestFinished(() => {
    made.dispose();
  });
  return made;
}

/** Each profile's machine is this one: what counts here is which of them the form holds. */
beforeEach(async (test) => {
  store = new ProfileStore(mkdtempSync(join(home, 'profiles-')));
  clusters = new Clusters(
    () => store,
    () => new Here({ bundleDir }),
  );
  form = opened(undefined);
  test.onTestFinished(() => {
    clusters.dispose();
  });
  await form.begin();
});

const seen = (what: (view: FormView) => unknown): ReturnType<typeof expect.poll> =>
  expect.poll(async () => what(await form.view()), { timeout: 10_000 });
const names = ({ profiles }: FormView): string[] => profiles.map(({ value }) => value);

describe.skipIf(!isBuilt)('the form of a new run, while it is open', () => {
  it('lists a profile that is added, keeps what is filled in, and names one that is gone', async () => {
    expect(names(await form.view())).toEqual(['local']);
    form.change({ ...form.values, data: '/images', name: 'mine' });
    await store.save(lab);
    clusters.profilesChanged();
    await seen(names).toEqual(['local', 'lab1']);
    expect(form.values).toMatchObject({ profile: 'local', data: '/images', name: 'mine' });
    form.fill('lab1');
    expect(form.values).toMatchObject({ profile: 'lab1', data: '/images', name: 'mine' });
    await seen(({ connection, problems }) => [connection, problems['profile']]).toEqual(['none', undefined]);
    await store.remove('lab1');
    clusters.profilesChanged();
    await seen(({ problems }) => problems['profile']).toContain('no such profile');
    expect(form.values).toMatchObject({ profile: 'lab1', name: 'mine' });
  });

  it('connects a profile that was added before the form knew of it', async () => {
    await store.save(lab);
    form.fill({ profile: 'lab1', words: ['train', '--data', '/images'] });
    await form.connect();
    await seen(({ connection }) => connection).toBe('connected');
    expect(form.values).toMatchObject({ profile: 'lab1', data: '/images' });
    await seen(({ options }) => options.find(({ flag }) => flag === '--epochs')?.help).not.toBe('');
  });

  it('says which hosts of an earlier run are lost, and keeps the others', async () => {
    await store.save(lab);
    clusters.profilesChanged();
    await seen(names).toEqual(['local', 'lab1']);
    const like = { profile: 'lab1', words: ['train', '--data', '/images'], ranks: 2 };
    form.fill({ ...like, hosts: ['127.0.0.9', '127.0.0.1'] });
    const another = opened({ ...like, hosts: ['127.0.0.9', '127.0.0.1'] });
    await another.begin();
    for (const each of [form, another]) {
      expect(each.values).toMatchObject({ hosts: '127.0.0.1', ranks: '', data: '/images' });
      const { said, saidIsError, problems } = await each.view();
      expect([said, saidIsError, problems['hosts']]).toEqual([
        '127.0.0.9 is no longer a host of profile lab1; ranks may be on 127.0.0.1. Choose other hosts, or start on 127.0.0.1.',
        true,
        undefined,
      ]);
    }
  });

  it('looks through the new connection after the old one ended', async () => {
    await store.save(lab);
    form.fill('lab1');
    await form.connect();
    const session = await clusters.get('lab1');
    const first = session.connected;
    session.disconnect();
    await seen(({ connection }) => connection).toBe('none');
    await session.machine();
    expect(session.connected).not.toBe(first);
    await seen(({ connection, connectionText }) => [connection, connectionText]).toEqual(['connected', '']);
    await form.lookInto(`${home}/images/`);
    const { folder } = await form.view();
    expect(folder).toMatchObject({ folders: ['train'] });
    expect(folder?.problem).toBeUndefined();
    form.show(true);
    await seen(({ nodes }) => nodes.map(({ text }) => text).join()).toMatch(/cores? at /);
  });

  it('shows a command line that starts the same run: one that waits does so by itself', async () => {
    form.fill({ profile: 'local', words: ['python3', 'train.py'], gpus: '1', wait: true });
    await seen(({ command }) => command).toContain(' --gpus 1 --wait --detach -- python3');
  });

  it('connects this machine again only where somebody asks for it', async () => {
    await seen(({ connection }) => connection).toBe('connected');
    const session = await clusters.get('local');
    session.disconnect();
    await seen(({ connection, connectionText }) => [connection, connectionText]).toEqual([
      'none',
      'Disconnected.',
    ]);
    await form.connect();
    await seen(({ connection }) => connection).toBe('connected');
  });

  it('finds images that validate, and fills in what is held out unless another folder was typed', async () => {
    const path = (name: string): NodePath => pathOfThisNode(join(home, 'birds', name));
    for (const name of ['train/a', 'train/b', 'validation/a']) mkdirSync(path(name), { recursive: true });
    form.change({ ...form.values, data: path('train') });
    await seen(({ validation }) => validation?.found).toBe(path('validation'));
    form.takeHalves();
    expect(form.values).toMatchObject({ data: path('train'), evalData: path('validation') });
    expect((await form.view()).validation).toBeNull();
    rmSync(path('validation'), { recursive: true });
    form.change({ ...form.values, evalData: '' });
    await seen(({ validation }) => validation?.holdOut).toBe('can');
    const made = { data: path('new/train'), evalData: path('new/validation'), said: '8 images' };
    const asked: unknown[][] = [];
    await form.holdOut((...words) => {
      asked.push(words);
      return Promise.resolve(made);
    });
    expect(asked).toEqual([['local', path('train'), 0]]);
    expect(form.values).toMatchObject({ data: made.data, evalData: made.evalData });
    expect(form.said.text).toBe('Held out: 8 images');
    form.change({ ...form.values, data: path('train'), evalData: '' });
    await seen(({ validation }) => validation?.holdOut).toBe('can');
    await form.holdOut(() => {
      form.change({ ...form.values, data: '/others' });
      return Promise.resolve(made);
    });
    expect(form.values).toMatchObject({ data: '/others', evalData: '' });
  });
});
