// The proof's report where parts hang, fail, or take the script with them: a stand-in, a shell script,
// is in the place of the program that the proof builds.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder, until } from '../support/harness.js';

const script = join(import.meta.dirname, '../../scripts/gpu/proof.py');
/**
 * Prints one result, then hangs in the part that the file `hang` names, and fails in that of `fail`. In that of
 * `leave` it leaves a process behind that holds its outputs open.
 */
const standIn = `#!/bin/sh
here=$(dirname "$0")
printf 'result\\t%s\\tlooks\\t0.5\\t1\\tok\\n' "$1"
if [ "$(cat "$here/leave")" = "$1" ]; then setsid sleep 600 & echo $! > "$here/left"; fi
if [ "$(cat "$here/hang")" = "$1" ]; then echo $$ > "$here/pid"; exec sleep 600; fi
if [ "$(cat "$here/fail")" = "$1" ]; then printf 'error\\tthe device is gone\\n'; exit 1; fi
`;

interface Report {
  finished: boolean;
  ok: boolean;
  running: string | null;
  go_on: string | null;
  left_out: { part: string }[];
  not_shown: string[];
  parts: { part: string; ok: boolean; failure?: string; time_limit?: number; results: unknown[] }[];
}

let folder: ReturnType<typeof temporaryFolder>;
const file = (name: string): string => join(folder.path, name);
const read = (name: string): string => readFileSync(file(name), 'utf8');
const report = (): Report => JSON.parse(read('gpu-proof.json')) as Report;
const names = (): string[] => report().parts.map(({ part }) => part);
const words = (...more: string[]): string[] => [
  ...[script, '--device', 'cpu', '--out', folder.path, '--program', file('stand-in')],
  ...more,
];
const proof = (...more: string[]): ReturnType<typeof spawnSync> =>
  spawnSync('python3', words(...more), { encoding: 'utf8' });

beforeEach(() => {
  folder = temporaryFolder('gpu-proof-killed');
  writeFileSync(file('stand-in'), standIn);
  chmodSync(file('stand-in'), 0o755);
  for (const name of ['hang', 'fail', 'leave']) writeFileSync(file(name), '');
});
afterEach(() => {
  folder.remove();
});

it('a part that is left out does not hold, whatever an earlier call showed of it', () => {
  expect(proof('--parts', 'networks').status).toBe(0);
  const none = proof('--parts', 'networks', '--minutes', '0');
  expect(none.stdout).toContain('left out: networks');
  expect(none.stdout).toContain('not everything that was asked for holds');
  expect(none.status).toBe(1);
});

it('a part that hangs is stopped at its time limit, which the report names, and the next one runs', () => {
  writeFileSync(file('hang'), 'networks');
  const hung = proof('--parts', 'networks', '--limit', '1');
  expect(hung.status).toBe(1);
  expect(report().parts).toMatchObject([
    { part: 'networks', ok: false, time_limit: 1, results: [{ what: 'networks', verdict: 'ok' }] },
  ]);
  expect(report().parts[0]?.failure).toContain('networks was stopped at its time limit of 1 s');
  expect(read('gpu-proof.md')).toContain('| networks | **stopped at its limit** |');
  expect(() => process.kill(Number(read('pid')), 0)).toThrow('ESRCH');
  // Beside it, and named as what it is.
  expect(proof('--parts', 'devices', '--report', file('copies')).status).toBe(0);
  for (const name of ['gpu-proof.json', 'gpu-proof.md']) expect(read(`copies/${name}`)).toBe(read(name));
  expect(names()).toEqual(['devices', 'networks']);
  expect(read('gpu-proof.md')).toContain("took the program's place: this says nothing of any device");
  // Run again, it takes the place of what it said before.
  writeFileSync(file('hang'), '');
  expect(proof('--parts', 'networks').status).toBe(0);
  expect(report().parts.map(({ ok }) => ok)).toEqual([true, true]);
});

it('a process that a stopped part left behind keeps nobody waiting, and what was printed is there', () => {
  for (const name of ['hang', 'leave']) writeFileSync(file(name), 'networks');
  try {
    expect(proof('--parts', 'networks', 'devices', '--limit', '1').status).toBe(1);
    expect(report().parts).toMatchObject([
      { part: 'devices', ok: true },
      { part: 'networks', ok: false, time_limit: 1, results: [{ what: 'networks', verdict: 'ok' }] },
    ]);
  } finally {
    process.kill(Number(read('left')), 'SIGKILL');
  }
});

it('a kill in the middle leaves a whole report of what was shown, and --continue shows the rest', async () => {
  writeFileSync(file('hang'), 'precisions');
  const parts = ['devices', 'networks', 'precisions', 'repeats'];
  const child = spawn('python3', words('--parts', ...parts), { stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', done));
  const pid = await until('the part that hangs', () => existsSync(file('pid')) && Number(read('pid')));
  try {
    child.kill('SIGKILL');
    await ended;
    expect(report()).toMatchObject({ finished: false, ok: false, running: 'precisions' });
    expect(names()).toEqual(['devices', 'networks']);
    expect(read('gpu-proof.md')).toContain('`precisions` was running when this was written');
    expect(read('gpu-proof.md')).toMatch(
      /\*\*Not finished\*\*: 2 of \d+ parts have run\. Without: ops, precisions, /,
    );
  } finally {
    process.kill(pid, 'SIGKILL');
  }
  writeFileSync(file('hang'), '');
  const rest = proof('--continue', '--parts', ...parts);
  expect(rest.status).toBe(0);
  expect(String(rest.stdout)).not.toContain(' networks (');
  expect(names()).toEqual(parts);
  expect(report()).toMatchObject({ finished: false, running: null });
  expect(proof('--continue').status).toBe(0);
  expect(report()).toMatchObject({ finished: true, ok: true, not_shown: [] });
});

it('a part that fails does not keep the others from running, and is no success of any later call', () => {
  writeFileSync(file('fail'), 'ops');
  expect(proof().status).toBe(1);
  expect(report()).toMatchObject({ finished: true, ok: false });
  expect(report().parts.filter(({ failure }) => failure !== undefined)).toMatchObject([
    { part: 'ops', failure: 'the device is gone' },
  ]);
  expect(read('gpu-proof.md')).toContain('**not everything holds.**');
  expect(proof('--continue').status).toBe(1);
  expect(proof('--parts', 'repeats').status).toBe(0);
});

it('--minutes starts no part that may not fit, and says how to go on', () => {
  expect(proof('--parts', 'devices', 'ops', '--minutes', '0.01').status).toBe(1);
  expect(names()).toEqual([]);
  const { left_out, go_on } = report();
  expect(left_out.map(({ part }) => part)).toEqual(['devices', 'ops']);
  expect(go_on).toContain('--continue --parts devices ops --minutes 0.01');
  expect(read('gpu-proof.md')).toContain(`To go on: \`${go_on ?? ''}\``);
  const again = (go_on ?? '').replace('--minutes 0.01', '--minutes 60').split(' ').slice(2);
  expect(spawnSync('python3', [script, ...again]).status).toBe(0);
  expect(names()).toEqual(['devices', 'ops']);
});

it('racecheck that ends within itself is not shown, and what a sanitizer finds is a failure', () => {
  // A stand-in for compute-sanitizer, with the line that the one of CUDA 13.0 ended with on an H200.
  const looksOn = `#!/bin/sh
tool=$2 words="$*"
while [ "$1" != '${file('stand-in')}' ]; do shift; done
"$@" || [ "$tool" = racecheck ] || exit
[ "$tool" != synccheck ] || [ ! -e "$(dirname "$0")/unsupported" ] || { echo '========= Error: Device not supported. Please refer to the documentation'; exit 1; }
echo "$words" > "$(dirname "$0")/$tool"
echo ========= COMPUTE-SANITIZER
cat "$(dirname "$0")/found"
[ "$tool" != racecheck ] || { echo '========= Internal Sanitizer Error: The Sanitizer failed to handle a hardware exception'; echo "========= Error: process didn't terminate successfully"; exit 255; }
[ "$tool" != synccheck ] || { echo '========= Barrier error detected. Divergent thread(s) in block'; exit 9; }
`;
  writeFileSync(file('compute-sanitizer'), looksOn, { mode: 0o755 });
  const run = (...parts: string[]): ReturnType<typeof spawnSync> =>
    spawnSync('python3', words('--device', 'cuda', '--parts', ...parts), {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${folder.path}:${process.env['PATH'] ?? ''}` },
    });
  writeFileSync(file('found'), '');
  const shown = run('memcheck', 'racecheck');
  expect(shown.status, String(shown.stdout) + String(shown.stderr)).toBe(0);
  expect(report().parts).toMatchObject([
    { part: 'memcheck', ok: true, results: [{ what: 'ops', verdict: 'ok' }] },
    {
      part: 'racecheck',
      ok: false,
      why_not:
        'racecheck ended within itself: Internal Sanitizer Error: The Sanitizer failed to handle a hardware exception',
      figures: {
        'left out':
          "kernels of NVIDIA's libraries, and those with pointwise_ in their names, which copy by TMA",
      },
    },
  ]);
  expect(read('memcheck')).toMatch(/^--tool memcheck --error-exitcode 9 \S+\/stand-in ops cuda$/m);
  expect(read('racecheck')).toContain('--kernel-name kns=trainyard --kernel-name-exclude kns=pointwise_ ');
  // The end of the tool ends the program's use of the GPU, which the program reports.
  writeFileSync(file('fail'), 'ops');
  expect(run('racecheck').status).toBe(0);
  writeFileSync(file('fail'), '');
  // It may take any time, which memcheck does not.
  writeFileSync(file('hang'), 'ops');
  expect(run('racecheck', '--limit', '2').status).toBe(0);
  expect(report().parts.find(({ part }) => part === 'racecheck')).toMatchObject({
    why_not: 'racecheck was not done after 2 s, and had found nothing until then',
  });
  expect(run('memcheck', '--limit', '2').status).toBe(1);
  writeFileSync(file('hang'), '');
  writeFileSync(file('unsupported'), '');
  expect(run('synccheck').status).toBe(0);
  expect(report().parts.find(({ part }) => part === 'synccheck')).toMatchObject({
    why_not: 'synccheck ended within itself: Error: Device not supported. Please refer to the documentation',
  });
  rmSync(file('unsupported'));
  expect(run('synccheck').status).toBe(1);
  const found = report().parts.find(({ part }) => part === 'synccheck');
  expect(found?.failure).toContain('Barrier error detected');
  // What was found before the end within the tool counts.
  writeFileSync(file('found'), '========= Race reported between Write access and Read access\n');
  expect(run('racecheck').status).toBe(1);
  expect(report().parts.find(({ part }) => part === 'racecheck')?.failure).toContain('Race reported');
});

it('a report of other sources is kept under another name', () => {
  proof('--parts', 'devices');
  writeFileSync(file('gpu-proof.json'), read('gpu-proof.json').replace('none: a stand-in', 'another tree'));
  const done = proof('--parts', 'ops');
  expect(String(done.stdout)).toContain('it is of other sources');
  expect(names()).toEqual(['ops']);
  expect(read('gpu-proof-before.json')).toContain('another tree');
  expect(read('gpu-proof-before.md')).toContain('| devices | ok |');
});

it('bench:gpu, too, leaves the rows that it had when it is killed, and goes on with the others', async () => {
  // A stand-in for the trainer, which hangs in rows of 3 images.
  const row =
    '{"images_per_sec": 5, "step_ms": 2, "images": "fixed", "recorded_graphs": 0, "first_step_at": 1}';
  const hang = `if [ "$(cat '${file('hang')}')" = batch ]; then echo $$ > '${file('pid')}'; exec sleep 600; fi`;
  writeFileSync(
    file('trainer'),
    `#!/bin/sh\ncase "$*" in *'--batch-size 3'*) ${hang};; esac\necho '${row}'\n`,
  );
  chmodSync(file('trainer'), 0o755);
  writeFileSync(file('hang'), 'batch');
  const bench = [join(dirname(script), '../bench/gpu.py'), '--device', 'cpu', '--out', folder.path];
  bench.push('--trainer', file('trainer'), '--batches', '2', '3', '--modes');
  const rows = (): unknown[] => (JSON.parse(read('bench-gpu.json')) as { rows: unknown[] }).rows;
  const child = spawn('python3', bench, { stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', done));
  const pid = await until('the row that hangs', () => existsSync(file('pid')) && Number(read('pid')));
  try {
    child.kill('SIGKILL');
    await ended;
    expect(rows()).toMatchObject([{ batch: 2, program: 'trainyard', images_per_sec: 5 }]);
    expect(read('bench-gpu.md')).toContain('`trainyard, bf16, batch 3` was running when this was written');
    expect(read('bench-gpu.md')).toContain('| fixed | 0: op by op |');
  } finally {
    process.kill(pid, 'SIGKILL');
  }
  const limited = spawnSync('python3', [...bench, '--continue', '--limit', '1'], { encoding: 'utf8' });
  expect(limited.status).toBe(1);
  expect(rows()).toMatchObject([{ batch: 2 }, { failure: 'stopped at its time limit of 1 s' }]);
  writeFileSync(file('hang'), '');
  expect(spawnSync('python3', [...bench, '--continue', '--again']).status).toBe(0);
  expect(rows()).toMatchObject([{ batch: 2 }, { batch: 3, images_per_sec: 5 }]);
  expect(read('bench-gpu.md')).toContain('All rows that were asked for are here.');
});

it('a part that is not known names those that are', () => {
  const done = proof('--parts', 'opps');
  expect(done.status).toBe(2);
  expect(String(done.stderr)).toContain('--parts opps is not known. The parts are build, devices, ops,');
});
