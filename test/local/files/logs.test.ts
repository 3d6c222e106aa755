// What the ranks print, through the command-line tool: labelled, cut to the last lines, raw, and
// followed while the run goes on.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli, expectExit, runCli, start, temporaryFolder, until } from '../../support/harness.js';

const folder = temporaryFolder('logs');
const dir = join(folder.path, 'run');
const gate = join(folder.path, 'gate');

/** Each rank prints 300 lines and one that it does not end; then it waits for the gate. */
const program = `
i=1
while [ $i -le 300 ]; do echo "rank $PMI_RANK line $i"; i=$((i+1)); done
printf 'no end of %s' "$PMI_RANK"
until [ -e ${gate} ]; do sleep 0.1; done
printf ' now\\nlast of %s\\n' "$PMI_RANK"
`;

const written = (rank: number): string[] => [
  ...Array.from({ length: 300 }, (_, index) => `rank ${rank} line ${index + 1}`),
  `no end of ${rank}`,
];

beforeAll(async () => {
  expectExit(await runCli(['runtime']), 0);
  const words = ['run', 'local', '--detach', '--ranks', '2', '--run-dir', dir, '--', 'sh', '-c', program];
  expectExit(await runCli(words), 0);
  await until('the ranks to have printed', () =>
    [0, 1].every((rank) => {
      const log = join(dir, `logs/rank-${rank}.log`);
      return existsSync(log) && readFileSync(log, 'utf8').includes('no end');
    }),
  );
});
afterAll(() => {
  folder.remove();
});

const lines = (text: string): string[] => text.split('\n').slice(0, -1);

describe('logs', () => {
  it('shows every line of every rank with its rank, the unfinished ones too', async () => {
    const outcome = await runCli(['logs', dir]);
    expectExit(outcome, 0);
    const expected = [0, 1].flatMap((rank) => written(rank).map((text) => `rank-${rank} | ${text}`));
    expect(lines(outcome.stdout)).toEqual(expected);
  });

  it('shows the last lines of those that are named, also as JSON with their offsets', async () => {
    const { stdout } = await runCli(['logs', dir, '--source', '1,rank-0', '--lines', '2', '--json']);
    const shown = lines(stdout).map(
      (line) => JSON.parse(line) as { source: string; offset: number; text: string },
    );
    expect(shown.map(({ source, text }) => `${source}: ${text}`)).toEqual([
      'rank-1: rank 1 line 300',
      'rank-1: no end of 1',
      'rank-0: rank 0 line 300',
      'rank-0: no end of 0',
    ]);
    const file = readFileSync(join(dir, 'logs/rank-1.log'));
    expect(file.subarray(shown[1]!.offset).toString()).toBe('no end of 1');
  });

  it('shows when each line was written', async () => {
    const timed = ['logs', dir, '--source', '1', '--lines', '2', '--times'];
    const { stdout } = await runCli([...timed, '--json']);
    const shown = lines(stdout).map((line) => JSON.parse(line) as { text: string; time: number | null });
    expect(shown.map(({ text }) => text)).toEqual(['rank 1 line 300', 'no end of 1']);
    const log = statSync(join(dir, 'logs/rank-1.log'));
    for (const { time } of shown) {
      // The look at the log's size that gives the time may come later on a busy machine.
      expect(time).toBeGreaterThanOrEqual(log.birthtimeMs / 1000 - 1);
      expect(time).toBeLessThanOrEqual(Date.now() / 1000);
    }
    const plain = lines((await runCli(timed)).stdout);
    expect(plain[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} rank-1 \| rank 1 line 300$/);
    expectExit(await runCli(['logs', dir, '--source', '1', '--raw', '--times']), 2);
  });

  it('searches all of the logs, and says where no line matches', async () => {
    const found = await runCli(['logs', dir, '--grep', 'LINE (7|300)$', '--ignore-case']);
    expectExit(found, 0);
    expect(lines(found.stdout)).toEqual(
      [0, 1].flatMap((rank) => [7, 300].map((line) => `rank-${rank} | rank ${rank} line ${line}`)),
    );
    const json = await runCli(['logs', dir, '--grep', 'line 7$', '--source', '1', '--json']);
    const { source, offset, text } = JSON.parse(json.stdout) as Record<'source' | 'text', string> & {
      offset: number;
    };
    expect([source, text]).toEqual(['rank-1', 'rank 1 line 7']);
    expect(readFileSync(join(dir, 'logs/rank-1.log')).subarray(offset).toString()).toMatch(
      /^rank 1 line 7\n/,
    );
    const none = await runCli(['logs', dir, '--grep', 'line 7$', '--lines', '5']);
    expectExit(none, 5);
    expect([none.stdout, none.stderr]).toEqual(['', 'no line matches\n']);
    const wrong = await runCli(['logs', dir, '--grep', 'line (7']);
    expectExit(wrong, 2);
    expect(wrong.stderr).toContain('--grep line (7 is no regular expression: unterminated group');
  });

  it('says which there are when another is asked for', async () => {
    const outcome = await runCli(['logs', dir, '--source', '7']);
    expectExit(outcome, 2);
    expect(outcome.stderr).toMatch(/no log of 7\. It has rank-0, rank-1, supervisor/);
    expectExit(await runCli(['logs', dir, '--lines', '0']), 2);
    expectExit(await runCli(['logs', dir, '--raw']), 2);
  });

  it('follows all of them to the end of the run, without losing or doubling a line', async () => {
    const following = start(process.execPath, [cli, 'logs', dir, '--lines', '2', '--follow']);
    const searching = start(process.execPath, [cli, 'logs', dir, '--grep', 'line 9$|last', '--follow']);
    // What comes later is only known to be followed once what was there is shown.
    await until('what was there', () =>
      [following, searching].every(({ stdout }) => lines(stdout).length === 2),
    );
    writeFileSync(gate, '');
    const outcome = await following.ended;
    expectExit(outcome, 0);
    const shown = [0, 1].flatMap((rank) =>
      [`last of ${rank}`, `no end of ${rank} now`, `rank ${rank} line 300`].map(
        (text) => `rank-${rank} | ${text}`,
      ),
    );
    expect(lines(outcome.stdout).sort()).toEqual(shown);
    const found = await searching.ended;
    expectExit(found, 0);
    expect(lines(found.stdout).sort()).toEqual(
      [0, 1].flatMap((rank) =>
        [`last of ${rank}`, `rank ${rank} line 9`].map((text) => `rank-${rank} | ${text}`),
      ),
    );
  });

  it('gives the bytes as they are', () => {
    const log = join(dir, 'logs/rank-1.log');
    appendFileSync(log, Buffer.from([0, 255, 13, 10, 200]));
    const { status, stdout } = spawnSync(process.execPath, [cli, 'logs', dir, '--source', '1', '--raw']);
    expect(status).toBe(0);
    expect(stdout.equals(readFileSync(log))).toBe(true);
  });
});

it('run shows what every process of a program prints, with its rank', async () => {
  const script = 'echo "of $RANK"; printf "no end of $RANK"';
  const other = `${dir}-shown`; // none of the user's own
  const both = await runCli(['run', 'local', '--ranks', '2', '--run-dir', other, '--', 'sh', '-c', script]);
  expectExit(both, 0);
  const lines = both.stdout.split('\n');
  for (const rank of [0, 1]) {
    expect(lines).toContain(`[${rank}] of ${rank}`);
    expect(lines).toContain(`[${rank}] no end of ${rank}`);
  }
  const alone = await runCli(['run', 'local', '--run-dir', other, '--', 'sh', '-c', script]);
  expectExit(alone, 0);
  expect(alone.stdout.split('\n')).toContain('of 0');
});

it('shows progress bars while they grow, each with its rank, and their last state', async () => {
  const other = `${dir}-bars`;
  const open = join(folder.path, 'bars');
  const script = `printf '\\r0/9 of %s\\r4/9 of %s' $RANK $RANK
until [ -e ${open} ]; do sleep 0.1; done
printf '\\r9/9 of %s\\nthe end\\r\\n' $RANK`;
  const words = ['run', 'local', '--ranks', '2', '--run-dir', other, '--', 'sh', '-c', script];
  const running = start(process.execPath, [cli, ...words]);
  const bars = [0, 1].map((rank) => `[${rank}] 4/9 of ${rank}`);
  await until('the bars', () => bars.every((bar) => running.stdout.split('\n').includes(bar)));
  const now = await runCli(['logs', other]);
  expect(lines(now.stdout)).toEqual(['rank-0 | 4/9 of 0', 'rank-1 | 4/9 of 1']);
  const following = start(process.execPath, [cli, 'logs', other, '--follow']);
  await until('the bars that are followed', () => lines(following.stdout).length === 2);
  writeFileSync(open, '');
  const outcome = await running.ended;
  expectExit(outcome, 0);
  expect(outcome.stdout).not.toContain('\r');
  for (const rank of [0, 1]) {
    const shown = outcome.stdout.split('\n').filter((line) => line.startsWith(`[${rank}] `));
    expect(shown.slice(-2)).toEqual([`[${rank}] 9/9 of ${rank}`, `[${rank}] the end`]);
  }
  const followed = lines((await following.ended).stdout).filter((line) => line.startsWith('rank-1'));
  expect(followed).toEqual(
    ['4/9', '9/9'].map((state) => `rank-1 | ${state} of 1`).concat('rank-1 | the end'),
  );
  const raw = await runCli(['logs', other, '--source', '0', '--raw']);
  expect(raw.stdout).toBe('\r0/9 of 0\r4/9 of 0\r9/9 of 0\nthe end\r\n');
});
