// What of a folder goes along with a run.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  assertProgramSent,
  programFile,
  programName,
  programOfFolder,
} from '../../../../src/core/code/program.js';
import { takeSnapshot, type CodeSnapshot } from '../../../../src/core/code/snapshot.js';
import { temporaryFolder } from '../../support/temporary.js';

let top: string;
let folder: string;
const put = (path: string, text = path, mode = 0o644): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text, { mode });
};
const git = (...words: string[]): void => {
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org'];
  execFileSync('git', [...who, ...words], { cwd: folder, stdio: 'ignore' });
};
const take = (from = folder): Promise<CodeSnapshot> => takeSnapshot(from, { cache: join(top, 'cache') });
const pathsOf = async (from?: string): Promise<string[]> => [...(await take(from)).paths].sort();

beforeEach(() => {
  top = temporaryFolder();
  folder = join(top, 'code');
  mkdirSync(folder);
});

/** The same files, by git and by the walk that stands in for it. */
describe.each(['git', 'no git'])('by %s', (by) => {
  const begin = (): void => {
    if (by === 'git') git('init', '-q');
    else put('.git/HEAD', ''); // no repository that git believes in
  };

  it('.gitignore counts: nested, negated, of a folder above, and info/exclude', async () => {
    begin();
    put('.gitignore', '*.log\n/build/\n!keep.log\nsub/only.txt\n/sub/rooted.txt\n');
    put('.git/info/exclude', 'private.txt\n');
    put('sub/.gitignore', '!here.log\n*.tmp\n');
    const sent = ['train.py', 'keep.log', 'sub/here.log', 'sub/a.py', 'other/a.tmp', 'other/build/x'];
    const left = [
      'a.log',
      'build/x',
      'sub/b.log',
      'sub/a.tmp',
      'sub/only.txt',
      'private.txt',
      'sub/rooted.txt',
    ];
    for (const path of [...sent, ...left]) put(path);
    expect(await pathsOf()).toEqual([...sent, '.gitignore', 'sub/.gitignore'].sort());
    expect(await pathsOf(join(folder, 'sub'))).toEqual(['.gitignore', 'a.py', 'here.log']);
  });

  it('.trainyardignore counts over it, and usual folders and secrets stay', async () => {
    begin();
    const secrets = [
      '.env',
      '.env.local',
      'deploy/key.pem',
      'id_rsa',
      'a/.aws/credentials',
      'x/credentials.json',
    ];
    const never = ['node_modules/a/b.js', 'sub/__pycache__/a.pyc', '.venv/bin/python', 'data/big'];
    const sent = ['train.py', '.env.example', 'sub/a.py', 'ca.pem', 'sub/data/here'];
    for (const path of [...secrets, ...never, ...sent]) put(path);
    put('.trainyardignore', '/data/\n!ca.pem\n');
    const snapshot = await take();
    expect([...snapshot.paths].sort()).toEqual([...sent, '.trainyardignore'].sort());
    expect(snapshot.notes).toHaveLength(1);
    expect(snapshot.notes[0]).toMatch(
      /^not sent, since such files usually hold secrets: \.env, \.env\.local, a\/\.aws\/credentials, deploy\/key\.pem, id_rsa and 1 more/,
    );
  });

  it('links stay inside', async () => {
    begin();
    put('lib/a.py');
    symlinkSync('lib/a.py', join(folder, 'near'));
    symlinkSync('lib', join(folder, 'way'));
    symlinkSync(join(folder, 'lib/a.py'), join(folder, 'lib/whole'));
    symlinkSync('/etc/passwd', join(folder, 'out'));
    symlinkSync('../elsewhere', join(folder, 'up'));
    const snapshot = await take();
    const { links } = JSON.parse(snapshot.manifest.toString()) as { links: unknown };
    expect(links).toEqual([
      ['lib/whole', 'a.py'],
      ['near', 'lib/a.py'],
      ['way', 'lib'],
    ]);
    expect(snapshot.notes).toEqual(['not sent, since these links lead out of the folder: out, up']);
  });
});

it('a repository in the repository goes along, and what git lists but is gone does not', async () => {
  git('init', '-q');
  put('train.py');
  put('gone.py');
  put('inner/lib.py');
  execFileSync('git', ['init', '-q'], { cwd: join(folder, 'inner') });
  git('add', 'train.py', 'gone.py');
  rmSync(join(folder, 'gone.py'));
  expect(await pathsOf()).toEqual(['inner/lib.py', 'train.py']);
});

it('the commit and what differs from it are recorded, without secrets', async () => {
  git('init', '-q');
  put('train.py', 'one\n');
  put('.env', 'KEY=1\n');
  git('add', '-f', '.');
  git('commit', '-qm', 'x');
  expect(await take()).toMatchObject({ diff: undefined, record: { changed: false } });
  put('train.py', 'two\n');
  put('.env', 'KEY=hidden\n');
  const { diff, record } = await take();
  expect(record).toMatchObject({ changed: true, files: 1, bytes: 4, folder });
  expect(record.commit).toMatch(/^[0-9a-f]{40}$/);
  expect(diff).toContain('+two');
  expect(diff).not.toContain('hidden');
});

it('a secret that was just taken out of git is in no difference', async () => {
  git('init', '-q');
  put('train.py', 'one\n');
  put('.env', 'KEY=hidden\n');
  put('.env.example', 'KEY=\n');
  git('add', '-f', '.');
  git('commit', '-qm', 'x');
  git('rm', '-q', '--cached', '.env');
  put('.gitignore', '.env\n');
  put('.env.example', 'KEY=shown\n');
  const { diff, paths } = await take();
  expect(paths.has('.env')).toBe(false);
  expect(diff).toContain('+KEY=shown');
  expect(diff).not.toContain('hidden');
});

it('content and the bit of a program make the name; times and the cache do not', async () => {
  put('a.py', 'same');
  put('b.py', 'same');
  const first = await take();
  expect(first.blobs).toHaveLength(1);
  const old = Date.now() / 1000 - 100;
  utimesSync(join(folder, 'a.py'), old, old);
  await new Promise((resolve) => setTimeout(resolve, 2100)); // hashes of settled files are kept
  for (let time = 0; time < 2; ++time) expect((await take()).record.snapshot).toBe(first.record.snapshot);
  put('c.py', 'diff');
  utimesSync(join(folder, 'c.py'), old, old);
  renameSync(join(folder, 'c.py'), join(folder, 'a.py')); // of the same size, time and name
  const changed = (await take()).record.snapshot;
  expect(changed).not.toBe(first.record.snapshot);
  chmodSync(join(folder, 'a.py'), 0o755);
  expect((await take()).record.snapshot).not.toBe(changed);
});

it('a file that is ignored is not even looked at, and one that is too large is an error', async () => {
  git('init', '-q');
  put('train.py');
  put('data.bin', '');
  truncateSync(join(folder, 'data.bin'), 2e9);
  await expect(take()).rejects.toThrow(
    'data.bin has 2000 MB, more than the 100 MB that a file of the code may have. Put data on the nodes instead, or name it in .trainyardignore.',
  );
  put('.gitignore', 'data.bin\n');
  expect((await take()).record.bytes).toBeLessThan(100);
});

it('a folder that cannot be sent is an error of the one who names it', async () => {
  put('file');
  const cases = { nothing: 'there is no folder', 'code/file': 'is no folder' };
  for (const [path, words] of Object.entries(cases)) {
    await expect(take(join(top, path))).rejects.toMatchObject({ code: 'usage' });
    await expect(take(join(top, path))).rejects.toThrow(words);
  }
  rmSync(join(folder, 'file'));
  await expect(take()).rejects.toThrow('there is no file to send');
});

it('a file that changes before it is sent is noticed', async () => {
  put('a.py', 'first');
  utimesSync(join(folder, 'a.py'), 1, 1);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await take();
  const snapshot = await take(); // from the cache: its bytes were not read
  put('a.py', 'other');
  expect(() => snapshot.read(snapshot.blobs[0]!)).toThrow('a.py changed while it was sent');
});

it.each([
  [['python', 'train.py', '--x'], 'train.py'],
  [['python3.11', '-u', '-X', 'dev', './src/train.py'], 'src/train.py'],
  [['torchrun', '--nproc_per_node', '2', 'train.py'], 'train.py'],
  [['./go.sh'], 'go.sh'],
  [['bin/go'], 'bin/go'],
  [['python', '-m', 'pkg.train'], undefined],
  [['python', '-c', 'print()'], undefined],
  [['python', '/abs/train.py'], undefined],
  [['nvidia-smi', 'train.py'], undefined],
  [['/opt/env/bin/python3.11', '-u', 'train.py'], 'train.py'],
  [['~/env/bin/torchrun', 'train.py'], 'train.py'],
  [['/usr/bin/nvidia-smi', 'train.py'], undefined],
  [['bash', '-lc', 'python3 train.py'], undefined],
  [['bash', '-o', 'pipefail', 'x.sh'], 'x.sh'],
  [['python3', '-um', 'pkg'], undefined],
  [['torchrun', '--master_port', '29500', '--max-restarts', '0', 'train.py', 'x.py'], 'train.py'],
  [['torchrun', '--nnodes', '1', '-m', 'pkg.train'], undefined],
  [['deepspeed', '--num_gpus', '4', 'train.py'], 'train.py'],
  [['node', '-r', 'dotenv/config', 'app.mjs'], 'app.mjs'],
  [['perl', '-pe', 's/a/b/', 'x.pl'], undefined],
])('the program of %j is %s', (words, path) => {
  expect(programFile(words)).toBe(path);
});

it('a program that stays at home is an error that says so', async () => {
  git('init', '-q');
  put('.gitignore', 'train.py\n');
  put('train.py');
  put('pkg/__main__.py');
  const snapshot = await take();
  const start =
    (...words: string[]) =>
    () => {
      assertProgramSent(words, snapshot);
    };
  expect(start('python', 'pkg')).not.toThrow();
  expect(start('python', 'train.py')).toThrow(
    'train.py, which is to be started, is not among the files that are sent. Take it out of .gitignore',
  );
  expect(start('python', 'none.py')).toThrow(`there is no none.py in ${folder}`);
});

it.each([
  ['python3 train.py --epochs 3', 'train.py'],
  ['/opt/venv/bin/python -X dev sub/train.py', 'train.py'],
  ['env OMP_NUM_THREADS=1 A=b torchrun --nnodes 1 main.py', 'main.py'],
  ['python3 -m pkg.train', 'python3'],
  ['./bin/solve --all', 'solve'],
  ['env', 'env'],
  ['make train', 'make'],
  ['sh -c true', 'sh'],
])('%s is called %s', (words, name) => {
  expect(programName(words.split(' '))).toBe(name);
});

it('a program of this folder is known as one that the nodes may lack', () => {
  put('train.py');
  expect(programOfFolder(['python3', 'train.py', '--lr', '1'], folder)).toBe('train.py');
  expect(programOfFolder(['torchrun', '--nproc-per-node', '2', './train.py'], folder)).toBe('train.py');
  expect(programOfFolder(['python3', '/srv/train.py'], folder)).toBeUndefined();
  expect(programOfFolder(['python3', 'other.py'], folder)).toBeUndefined();
  expect(programOfFolder(['train', '--model', 'mlp'], folder)).toBeUndefined();
});
