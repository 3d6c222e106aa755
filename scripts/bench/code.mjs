// npm run bench:code: a folder of code with 10,000 files to three nodes, login and all, beside
// `tar | ssh` to the three at the same time; then a second start with one changed file. By turns in
// the same minutes. Prints the medians of the second starts and of each round's ratio. Exit 1, with
// OVER, where a limit is not held.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { finish, World } from './ssh/world.mjs';
import { median } from './support/statistics.mjs';
import { main, step } from '../lib/shell.mjs';

const nodes = 3;
const files = 10_000;
const rounds = 5;
const limits = { beside: 0.9, second: 1 };

/**
 * As a repository is: 100 folders of sources, and 1 GB of data that git ignores.
 * @param {string} folder
 */
function makeFolder(folder) {
  for (let index = 0; index < files - 1; index++) {
    const sub = join(folder, 'src', String(index % 100));
    if (index < 100) mkdirSync(sub, { recursive: true });
    const text = `# ${index}\n${randomBytes(1500).toString('hex')}\n`;
    writeFileSync(join(sub, `m${index}.py`), text);
  }
  writeFileSync(join(folder, '.gitignore'), 'data.bin\n');
  writeFileSync(join(folder, 'data.bin'), '');
  truncateSync(join(folder, 'data.bin'), 1e9);
  execFileSync('git', ['init', '-q'], { cwd: folder });
}

/** Seconds that the machine's processors have worked, others' programs too. */
function worked() {
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) / 100;
}

/**
 * Milliseconds of `what`, and the processors' seconds meanwhile.
 * @param {() => Promise<number>} what
 */
async function measured(what) {
  const before = worked();
  const time = await what();
  return { time, work: worked() - before };
}

main(async () => {
  const world = await World.start(nodes);
  try {
    const folder = join(world.dir, 'from');
    makeFolder(folder);
    const homes = world.cluster.nodes.map(({ home }) => home);
    const client = world.client();
    await setTimeout(2500); // hashes of settled files are kept
    /** @type {{ ours: number[], tar: number[], second: number[], ratio: number[] }} */
    const times = { ours: [], tar: [], second: [], ratio: [] };
    for (let round = 1; round <= rounds; round++) {
      step(`round ${round}: ${files} files to ${nodes} nodes, then one changed file`);
      const bases = homes.map((home) => join(home, `tar-${round}`));
      const tar = await measured(async () => {
        const began = performance.now();
        await Promise.all(
          bases.map((to, index) => {
            const [program, ...words] = world.ssh([], undefined, index);
            const there = `mkdir -p '${to}' && tar -x -C '${to}' -f -`;
            const pipe = 'tar -C "$1" --exclude=data.bin --exclude=.git -cf - . | { shift; "$@"; }';
            return finish(['sh', '-c', pipe, 'sh', folder, program, ...words, there]);
          }),
        );
        return performance.now() - began;
      });
      const cache = join(world.dir, `cache-${round}`);
      // An empty store each time: that of the round before is put aside.
      await Promise.all(
        homes.map((home) =>
          finish([
            'sh',
            '-c',
            `mkdir -p '${home}/.trainyard'; cd '${home}/.trainyard'; mkdir 'old-${round}'; mv code runs 'old-${round}' 2>/dev/null; true`,
          ]),
        ),
      );
      const ours = await measured(() =>
        client.ask('code', { folder, cache, id: `first-${round}`, login: true }),
      );
      times.tar.push(tar.time);
      times.ours.push(ours.time);
      times.ratio.push(tar.time / ours.time);
      appendFileSync(join(folder, 'src/0/m0.py'), `# round ${round}\n`);
      times.second.push(await client.ask('code', { folder, cache, id: `second-${round}`, login: false }));
      for (const home of homes) {
        const sent = readdirSync(join(home, `.trainyard/runs/second-${round}/code`));
        if (sent.includes('data.bin')) throw new Error('what git ignores was sent');
      }
      /** @param {number[]} all */
      const last = (all) => `${((all.at(-1) ?? 0) / 1000).toFixed(2)} s`;
      process.stdout.write(
        `tar | ssh ${last(times.tar)}, ours ${last(times.ours)}, ratio ${(times.ratio.at(-1) ?? 0).toFixed(2)}, ` +
          `processors ${tar.work.toFixed(1)} s beside ${ours.work.toFixed(1)} s, second ${last(times.second)}\n`,
      );
    }
    const beside = median(times.ratio);
    const second = median(times.second) / 1000;
    const over = [beside < limits.beside, second > limits.second];
    process.stdout.write(
      `first send, beside tar | ssh: ${beside.toFixed(2)}x, limit ${limits.beside}${over[0] ? '  OVER' : ''}\n` +
        `second start, one file changed: ${second.toFixed(2)} s, limit ${limits.second}${over[1] ? '  OVER' : ''}\n`,
    );
    if (over.includes(true)) process.exitCode = 1;
  } finally {
    await world.stop();
  }
});
