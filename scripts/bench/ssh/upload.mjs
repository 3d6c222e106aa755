// A folder to a node, login and all: ours beside tar through ssh. Also how long the login alone
// takes.
import { randomFillSync } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { byTurns } from './rounds.mjs';
import { finish, ourCipher } from './world.mjs';

/** @import { OnRound } from './rounds.mjs' */
/** @import { World } from './world.mjs' */

/**
 * As a data set and some checkpoints are: 2,000 small files and 8 large ones, 300 MB.
 * @param {string} folder
 */
function makeFolder(folder) {
  const bytes = randomFillSync(Buffer.alloc(32 * 1024 * 1024));
  for (let index = 0; index < 2000; index++) {
    const sub = join(folder, 'images', String(index % 10));
    if (index < 10) mkdirSync(sub, { recursive: true });
    writeFileSync(join(sub, `${index}.jpg`), bytes.subarray(index, index + 20_000));
  }
  for (let index = 0; index < 8; index++) writeFileSync(join(folder, `model-${index}.bin`), bytes);
}

/** @param {() => Promise<unknown>} act */
const timed = async (act) => {
  const began = performance.now();
  await act();
  return performance.now() - began;
};

/**
 * @param {World} world
 * @param {OnRound} onRound
 */
export async function measureUpload(world, onRound) {
  const from = join(world.dir, 'from');
  makeFolder(from);
  const to = join(world.dir, 'to');
  const client = world.client();
  /** @param {string} [cipher] */
  const byTar = (cipher) => () => {
    const [program, ...words] = world.ssh([], cipher);
    const there = `mkdir -p '${to}' && tar -x -C '${to}' -f -`;
    return timed(() =>
      finish(['sh', '-c', 'tar -C "$1" -cf - . | { shift; "$@"; }', 'sh', from, program, ...words, there]),
    );
  };
  /**
   * Into an empty place each time, and with no earlier bytes still on their way to the disk.
   * @param {() => Promise<number>} measure
   */
  const fresh = (measure) => async () => {
    rmSync(to, { recursive: true, force: true });
    await finish(['sync']);
    return measure();
  };
  try {
    return await byTurns(
      {
        ours: fresh(() => client.ask('upload', { from, to })),
        ssh: fresh(byTar()),
        sameCipher: fresh(byTar(ourCipher)),
      },
      onRound,
    );
  } finally {
    client.stop();
  }
}

/**
 * @param {World} world
 * @param {OnRound} onRound
 */
export async function measureLogin(world, onRound) {
  const client = world.client();
  try {
    return await byTurns(
      { ours: () => client.ask('login'), ssh: () => timed(() => finish([...world.ssh([]), 'true'])) },
      onRound,
    );
  } finally {
    client.stop();
  }
}
