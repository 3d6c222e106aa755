import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { profileSchema, profilesJsonSchema } from '../../../../src/core/contracts/profileSchema.js';
import { ProfileStore, trainyardHome, type BrokenProfile } from '../../../../src/core/profiles/store.js';
import { check, problemsText } from '../../../../src/core/base/validation.js';
import { temporaryFolder } from '../../support/temporary.js';

const root = temporaryFolder();
let count = 0;
function storeWith(text?: string): ProfileStore {
  const home = join(root, String(count++));
  mkdirSync(home);
  if (text !== undefined) writeFileSync(join(home, 'profiles.json'), text);
  return new ProfileStore(home);
}
const read = (store: ProfileStore): string => readFileSync(store.path, 'utf8');
async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ code: 'usage' });
  return (error as UserError).message;
}
const lab = {
  name: 'lab',
  kind: 'ssh' as const,
  hosts: [
    { host: 'gpu1', slots: 8 },
    { host: 'gpu2', gpus: [0, 1] },
  ],
  head: 'gpu1',
};

describe('a profile', () => {
  it('may have every field of the design', () => {
    const whole = {
      ...lab,
      hosts: [
        {
          host: 'gpu1',
          address: '10.0.0.5',
          port: 22,
          user: 'me',
          slots: 8,
          gpus: [0, 1],
          tasks: ['ps:2222', 'worker'],
          identityFile: '~/.ssh/id',
          proxyJump: 'jump',
        },
      ],
      workdir: '~/.trainyard',
      interface: 'auto',
      portRange: '47000-47100',
      transport: 'auto',
      launcher: 'manual',
      slurm: { partition: 'p', account: 'a', gres: 'gpu:8', time: '24:00:00' },
      hangTimeout: 300,
      prologue: 'module load cuda && source activate env',
      train: { ranks: 2, flags: ['--threads', '1', '--bucket-size', '1'], why: 'bake-off of 2026-11-25' },
      stopGrace: 60,
      silenceTimeout: 600,
      share: './checkpoints/',
      notify: { command: ['tell', 'me'], webhookFile: '~/.hook', on: ['finished', 'stalled'] },
      env: { K: 'V' },
      minNodes: 1,
      maxNodes: 4,
      maxRestarts: 3,
      pricePerGpuHour: 2,
      budget: 50,
      budgetWarning: 0.5,
      budgetStop: true,
    };
    expect(check(profileSchema, whole)).toEqual({ ok: true, data: whole });
  });

  it.each([
    [{ ...lab, hosts: [] }, /hosts: a profile of kind ssh needs at least one host/],
    [{ ...lab, head: 'gpu9' }, /head: gpu9 is not one of the hosts/],
    [{ ...lab, hosts: [{ host: 'gpu1' }, { host: 'gpu1' }] }, /hosts\[1\]\.host: gpu1 is listed twice/],
    [{ ...lab, hosts: [{ host: 'gpu1', gpus: [1, 1] }] }, /hosts\[0\]\.gpus/],
    [
      { ...lab, head: 'b', hosts: [{ host: 'a', slots: 0 }, { host: 'b' }] },
      /hosts\[0\]\.slots: .* not the head/,
    ],
    [{ ...lab, head: undefined, hosts: [{ host: 'a', slots: 0 }] }, /hosts\[0\]\.slots: .* no other host/],
    [{ name: 'here', kind: 'local', hosts: [{ host: 'a', slots: 0 }] }, /slots: .* with kind local/],
    [{ ...lab, hosts: [{ host: '-oProxyCommand=x' }], head: undefined }, /hosts\[0\]\.host/],
    [{ ...lab, minNodes: 3, maxNodes: 2 }, /minNodes/],
    [{ ...lab, spares: -1 }, /spares/],
    [{ ...lab, spares: 1 }, /spares: must be at most 0: two of the \d+ hosts/],
    [{ name: 'here', kind: 'local', spares: 1 }, /spares: is for profiles of kind ssh, not local/],
    [{ ...lab, mirror: 'gpu9' }, /mirror: gpu9 is not one of the hosts/],
    [{ ...lab, mirror: lab.hosts[0]?.host }, /mirror: \S+ is the head/],
    [{ name: 'here', kind: 'local', mirror: 'a' }, /mirror: is for profiles of kind ssh, not local/],
    [{ ...lab, portRange: '47100-47000' }, /portRange/],
    [{ ...lab, portRange: '80-90' }, /portRange/],
    [{ ...lab, env: { 'A B': 'x' } }, /env/],
    [{ ...lab, password: 'secret' }, /password/],
    [{ ...lab, name: '../x' }, /name/],
    [{ ...lab, stage: { from: 'images', to: '/b' } }, /stage\.from: must be a path of the head/],
    [{ ...lab, stage: { from: 'gpu2:images', to: '/b' } }, /stage\.from: must be a path of the head/],
    [{ ...lab, stage: { from: '/a', to: 'gpu2:/b' } }, /stage\.to: must be a path of each node/],
    [{ ...lab, stage: { from: '/a' } }, /stage\.to/],
    [{ ...lab, stage: { from: '/a', to: '/b', speed: 1 } }, /speed/],
    [{ ...lab, prologue: '' }, /prologue/],
    [{ ...lab, train: { flags: ['ring'] } }, /must be a flag of the trainer/],
    [{ ...lab, train: { flags: ['--run-dir', '/a'] } }, /must not name the folder/],
    [{ ...lab, train: { ranks: 0 } }, /train\.ranks/],
    [{ ...lab, stopGrace: 0 }, /stopGrace/],
    [{ ...lab, silenceTimeout: -1 }, /silenceTimeout/],
    [{ ...lab, share: '/scratch' }, /share: must be relative to the run's folder, not "\/scratch"/],
    [{ ...lab, share: 'code/out' }, /share: must leave out "code\/"/],
    [{ ...lab, share: 'nodes' }, /share: must not begin with "nodes"/],
    [{ ...lab, notify: {} }, /notify: needs a command, a webhookFile or both/],
    [{ ...lab, notify: { command: [] } }, /notify\.command/],
    [{ ...lab, notify: { webhookFile: 'https://x.org/y' } }, /webhookFile: must be a path of the head/],
    [{ ...lab, notify: { webhook: 'https://x.org/y' } }, /webhook/],
    [{ ...lab, notify: { command: ['a'], on: ['begun'] } }, /notify\.on/],
    [{ ...lab, hosts: [{ host: 'a', tasks: ['boss'] }] }, /must be chief, worker, ps or evaluator/],
    [{ ...lab, hosts: [{ host: 'a', tasks: ['ps:0'] }] }, /the port must lie between 1 and 65535/],
    [{ ...lab, pricePerNodeHour: -1 }, /pricePerNodeHour/],
    [{ ...lab, pricePerNodeHour: 12.24, pricePerGpuHour: 2 }, /a price per node or per GPU, not both/],
    [{ ...lab, budget: 5 }, /budget: needs a price/],
    [{ ...lab, pricePerNodeHour: 1, budget: 0 }, /budget/],
    [{ ...lab, pricePerNodeHour: 1, budget: 5, budgetWarning: 2 }, /budgetWarning/],
    [{ ...lab, pricePerNodeHour: 12.24, currency: 'usd' }, /currency: must be three capital letters/],
    [{ name: 'here', kind: 'local', hosts: [{ host: 'a' }, { host: 'b' }] }, /hosts/],
  ])('that is wrong is refused with its field (%#)', (profile, expected) => {
    const result = check(profileSchema, profile);
    expect(result.ok ? '' : problemsText(result.problems)).toMatch(expected);
  });

  it('has a JSON schema, and the one in media/ is current', () => {
    const path = join(import.meta.dirname, '../../../../media/profiles.schema.json');
    expect(JSON.parse(readFileSync(path, 'utf8')), 'run npm run schema').toEqual(profilesJsonSchema());
    expect(JSON.stringify(profilesJsonSchema())).toContain('Ranks on this node');
  });
});

describe('ProfileStore', () => {
  it('has the local profile without any file, and does not make one by looking', async () => {
    const store = storeWith();
    expect(await store.list()).toEqual([{ name: 'local', kind: 'local' }]);
    expect(() => statSync(store.path)).toThrow();
  });

  it('lets an entry named local override fields, without its kind', async () => {
    const store = storeWith('{"version":1,"profiles":[{"name":"local","workdir":"/data"}]}');
    expect(await store.get('local')).toEqual({ name: 'local', kind: 'local', workdir: '/data' });
  });

  it('names the profiles there are', async () => {
    const store = storeWith(JSON.stringify({ version: 1, profiles: [lab] }));
    expect(await failure(store.get('lob'))).toBe('there is no profile named lob.');
    const hint = { kind: 'chooseProfile', names: ['local', 'lab'] };
    await expect(store.get('lob')).rejects.toMatchObject({ hint });
  });

  it.each([
    ['{\n "version": 1,\n "profiles": [\n', /profiles\.json:\d: /],
    ['', /profiles\.json:1: /],
    ['{"version":2,"profiles":[]}', /:1: version: /],
    ['[]', /:1: /],
  ])('says line and field of what is wrong (%#), and never writes over it', async (text, expected) => {
    const store = storeWith(text);
    expect(await failure(store.list())).toMatch(expected);
    expect(await failure(store.save(lab))).toMatch(expected);
    expect(await failure(store.remove('lab'))).toMatch(expected);
    expect(read(store)).toBe(text);
  });

  it.each([
    [
      '{\n "version": 1,\n "profiles": [\n  {"name": "lab",\n   "kind": "shh"}\n ]\n}',
      /:5: profiles\[1\]\.kind: /,
    ],
    [
      '{\n "version": 1,\n "profiles": [\n  {"name": "lab",\n   "kind": "ssh"}\n ]\n}',
      /:4: profiles\[1\]\.hosts: .*at least one host/,
    ],
    [
      '{\n "version": 1,\n "profiles": [{"name":"a","kind":"local"},\n{"name":"a","kind":"local"}]}',
      /:4: profiles\[2\]\.name: .*more than one profile named a/,
    ],
  ])(
    'keeps the others where an entry is wrong (%#), says line and field, and never writes over it',
    async (text, expected) => {
      const own = text.replace('"profiles": [', '"profiles": [{"name":"good","kind":"local"},');
      const store = storeWith(own);
      const { profiles, broken } = await store.contents();
      expect(profiles.map(({ name }) => name)).toContain('good');
      expect(broken).toHaveLength(1);
      const [{ name, error }] = broken as [BrokenProfile];
      expect(error.message).toMatch(expected);
      expect(await failure(store.get(name))).toBe(error.message);
      expect(await store.get('good')).toEqual({ name: 'good', kind: 'local' });
      expect(await failure(store.save({ ...lab, name: 'new' }))).toBe(error.message);
      expect(await failure(store.remove('good'))).toBe(error.message);
      expect(read(store)).toBe(own);
    },
  );

  it('adds, replaces and removes, and leaves comments and the rest as they were', async () => {
    const store = storeWith(
      '{\n  // mine\n  "version": 1,\n  "profiles": [\n    { "name": "a", /* keep */ "kind": "local" },\n  ]\n}\n',
    );
    await store.save(lab);
    expect(await store.get('lab')).toEqual(lab);
    await store.save({ ...lab, workdir: '/w' });
    expect(await store.get('lab')).toEqual({ ...lab, workdir: '/w' });
    await store.remove('lab');
    expect((await store.list()).map(({ name }) => name)).toEqual(['local', 'a']);
    expect(read(store)).toContain('// mine');
    expect(read(store)).toContain('/* keep */');
    await store.remove('never there');
  });

  it('refuses to write a profile that it could not read', async () => {
    const store = storeWith();
    await failure(store.save({ ...lab, hosts: [] }));
    expect(() => statSync(store.path)).toThrow();
  });

  it('keeps changes made at the same time, and leaves no temporary files', async () => {
    const store = storeWith();
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => store.save({ name, kind: 'local' })));
    expect((await store.list()).map(({ name }) => name)).toEqual(['local', ...names]);
    expect(readdirSync(join(store.path, '..'))).toEqual(['profiles.json']);
    expect(statSync(store.path).mode & 0o777).toBe(0o600);
  });

  it('changes a profile as it is then, and nothing else of it', async () => {
    const store = storeWith();
    const other = new ProfileStore(join(store.path, '..')); // of another window, or of the command line
    await store.save(lab);
    const asked = await store.get('lab');
    await other.save({ ...asked, workdir: '/w' });
    const priced = await store.change('lab', (current) => ({ ...current, portRange: '47000-47100' }));
    expect(priced).toEqual({ ...lab, workdir: '/w', portRange: '47000-47100' });
    expect(await other.get('lab')).toEqual(priced);
    await Promise.all(
      ['a', 'b', 'c'].map((tag) =>
        store.change('lab', (current) => ({ ...current, workdir: `${current.workdir ?? ''}${tag}` })),
      ),
    );
    expect((await store.get('lab')).workdir).toBe('/wabc');
    expect(await failure(store.change('west', (current) => current))).toContain('no profile named west');
    await store.change('local', (current) => ({ ...current, workdir: '/here' }));
    expect(await store.get('local')).toMatchObject({ kind: 'local', workdir: '/here' });
  });

  it('follows a link instead of replacing it', async () => {
    const store = storeWith();
    const target = join(root, 'dotfiles.json');
    writeFileSync(target, '{"version":1,"profiles":[]}');
    symlinkSync(target, store.path);
    await store.save(lab);
    expect(readFileSync(target, 'utf8')).toContain('"lab"');
  });

  it('makes the file to open, once', async () => {
    const store = storeWith();
    expect(await store.ensureFile()).toBe(store.path);
    writeFileSync(store.path, '{"version":1,"profiles":[],}');
    await store.ensureFile();
    expect(read(store)).toBe('{"version":1,"profiles":[],}');
  });

  it('says when the file cannot be read', async () => {
    const store = storeWith();
    mkdirSync(store.path);
    expect(await failure(store.list())).toContain('cannot be read');
  });
});

it('TRAINYARD_HOME decides where', () => {
  expect(trainyardHome({ TRAINYARD_HOME: '/x' })).toBe('/x');
  expect(trainyardHome({})).toMatch(/\.config\/trainyard$/);
});
