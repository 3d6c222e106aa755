// Images on a disk that hangs while a run reads them: the run says what its rank waits for, and for
// which file.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HungFolder, noHungFolder } from '../../support/hungFolder.js';
import {
  cli,
  expectExit,
  readLines,
  readLinesSoFar,
  runTrainer,
  start,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('hung-images');
const data = join(folder.path, 'data');

beforeAll(async () => {
  expectExit(await runTrainer(['prep', '--from', 'demo:2x40', '--to', data, '--validation', '0.1']), 0);
});
afterAll(folder.remove);

/** Of a profile that notices after 8 s that a rank hangs, and says so after 2 s. */
function home(): string {
  const path = join(folder.path, 'home');
  mkdirSync(path, { recursive: true });
  const profile = { name: 'local', kind: 'local', maxRestarts: 0, hangTimeout: 8 };
  writeFileSync(join(path, 'profiles.json'), JSON.stringify({ version: 1, profiles: [profile] }));
  return path;
}

describe.skipIf(noHungFolder)(`images on a disk that hangs (${noHungFolder ?? 'FUSE'})`, () => {
  it('are what the rank waits for, in the line of the stalled run and in the reason of its end', async () => {
    const run = join(folder.path, 'run');
    const training = [
      '--model',
      'mlp',
      '--data',
      join(data, 'train'),
      '--batch-size',
      '4',
      '--device',
      'cpu',
    ];
    const words = ['run', 'local', '--run-dir', run, '--ranks', '1', '--', 'train', ...training];
    const running = start(process.execPath, [cli, ...words, '--steps', '1000000', '--log-every', '1'], {
      env: { TRAINYARD_HOME: home() },
    });
    const metrics = join(run, 'metrics.jsonl');
    const isStep = ({ kind, step }: { kind: string; step?: unknown }): boolean =>
      kind === 'step' && Number(step) >= 5;
    await until('step 5', () => existsSync(metrics) && readLinesSoFar(metrics).some(isStep));
    const images = join(data, 'train', readdirSync(join(data, 'train'))[0]!);
    const hung = await HungFolder.mount(images); // over the images that were there
    try {
      const { stdout, stderr } = await running.ended;
      const what = `waits for images of step \\d+: a thread of it opens ${images}/\\S+ \\(fuse\\)`;
      const events = readLines(join(run, 'events.jsonl'));
      for (const kind of ['stalled', 'hang']) {
        const doing = [{ rank: 0, what: expect.stringMatching(`^${what}$`) as string }];
        expect(events.find((event) => event.kind === kind)).toMatchObject({ doing });
      }
      const text = stdout + stderr;
      expect(text).toMatch(new RegExp(`no step for \\d+ s; rank 0 on \\S+ ${what}`));
      expect(text).toMatch(new RegExp(`made no progress for 8 s .*; rank 0 ${what}`));
    } finally {
      await hung.release();
    }
  });
});
