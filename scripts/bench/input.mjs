// npm run bench:input -- [--data FOLDER] [--torch VENV]: images a second on one core from 500x375
// JPEGs to normalised 224x224, of the trainer, of the trainer decoding every image whole, and of
// torchvision's DataLoader with PIL; in turns, medians, by the clock and by the processor's time,
// which says more where others use the machine. Exit 1 below a gate by the clock.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build, root } from '../lib/paths.mjs';
import { capture, has, main, run, step } from '../lib/shell.mjs';
import { median } from './support/statistics.mjs';
import { torchPython } from './support/torch.mjs';
import { buildNative } from '../native/native.mjs';

/** @typedef {{ images_per_sec: number, images: number, cpu_seconds: number }} Result */

const gates = { torchvision: 2.5, whole: 1.2 };
const script = join(root, 'scripts/bench/support/input_torchvision.py');
/**
 * Everything on one and the same core where that can be asked for.
 * @param {readonly [string, ...string[]]} words
 * @returns {readonly [string, ...string[]]}
 */
const pinned = (words) => (has('taskset') ? ['taskset', '-c', '0', ...words] : words);

/**
 * @param {string} data
 * @param {string} seconds
 * @param {...string} more
 * @returns {Result}
 */
function ours(data, seconds, ...more) {
  const trainer = join(build, 'native/release/node/bin/trainer');
  const [command, ...words] = pinned([
    trainer,
    'bench',
    'input',
    '--data',
    data,
    '--seconds',
    seconds,
    ...more,
  ]);
  const { ok, stdout, stderr } = capture(command, words);
  if (!ok) throw new Error(`trainer bench input failed: ${stderr.trim()}`);
  return JSON.parse(stdout);
}

/**
 * torchvision in a process of its own that stays, as its start takes seconds.
 * @param {string} python
 * @param {string} data
 */
function startTorchvision(python, data) {
  const [command, ...words] = pinned([python, script, data]);
  const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /**
     * @param {string} seconds
     * @returns {Promise<Result>}
     */
    async measure(seconds) {
      child.stdin.write(`${seconds}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error('torchvision ended. What it said stands above.');
      return JSON.parse(value);
    },
    end: () => child.stdin.end(),
  };
}

main(async () => {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      torch: { type: 'string' },
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '7' },
    },
  });
  const python = torchPython(values.torch);
  buildNative();
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-input-'));
  try {
    const data = values.data ?? join(folder, 'data');
    if (values.data === undefined) {
      step('256 drawn images of 500x375');
      run(python, [script, '--make', data, '256']);
    }
    const torchvision = startTorchvision(python, data);
    await torchvision.measure('1');
    /** @type {Record<'part' | 'whole' | 'torchvision', Result[]>} */
    const found = { part: [], whole: [], torchvision: [] };
    for (let round = 0; round < Number(values.rounds); ++round) {
      found.part.push(ours(data, values.seconds));
      found.torchvision.push(await torchvision.measure(values.seconds));
      found.whole.push(ours(data, values.seconds, '--whole'));
    }
    torchvision.end();
    /** @param {(one: Result) => number} figure */
    const medians = (figure) => ({
      part: median(found.part.map(figure)),
      whole: median(found.whole.map(figure)),
      torchvision: median(found.torchvision.map(figure)),
    });
    const byClock = medians((one) => one.images_per_sec);
    const byProcessor = medians((one) => one.images / one.cpu_seconds);
    process.stdout.write(
      `trainer      ${byClock.part.toFixed(0)} images/s a core (median of ${values.rounds}), ${byProcessor.part.toFixed(0)} a second of processor time\n`,
    );
    for (const name of /** @type {const} */ (['torchvision', 'whole'])) {
      const gate = gates[name];
      const times = byClock.part / byClock[name];
      const verdict = times >= gate ? 'holds' : 'DOES NOT HOLD';
      const processor = `${byProcessor[name].toFixed(0)} a second of processor time, ${(byProcessor.part / byProcessor[name]).toFixed(2)} times slower`;
      process.stdout.write(
        `${name.padEnd(12)} ${byClock[name].toFixed(0)} images/s, ${times.toFixed(2)} times slower (gate ${gate}: ${verdict}); ${processor}\n`,
      );
      if (times < gate) process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
