// A rank that is really slow, because its process runs for a third of the time. Health names it,
// says when that is over, and before that says nothing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { slowDown } from '../../../scripts/practice/slowRank.mjs';
import { parseMetric, type HostLine } from '../../../src/core/contracts/metricsSchema.js';
import { medianTimes, rankTimesOf, type RankTimes } from '../../../src/core/model/hosts/slowRanks.js';
import {
  expectExit,
  parseLines,
  readLinesSoFar,
  runCli,
  temporaryFolder,
  until,
} from '../../support/harness.js';

const folder = temporaryFolder('slow-rank');
const home = join(folder.path, 'home');
const options = { env: { TRAINYARD_HOME: home }, cwd: folder.path };
/** Ends what makes a rank slow. */
let end: (() => void) | undefined;

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  const local = {
    ...{ name: 'local', kind: 'local', workdir: join(folder.path, 'work') },
    hosts: [{ host: 'here', slots: 2 }],
  };
  writeFileSync(join(home, 'profiles.json'), JSON.stringify({ version: 1, profiles: [local] }));
  expectExit(await runCli(['runtime'], options), 0);
});
afterAll(async () => {
  end?.();
  expectExit(await runCli(['stop', 'last', '--now'], options), 0);
  folder.remove();
});

async function listed(): Promise<{ dir: string; health: { level: string; kind: string; text: string } }> {
  const list = await runCli(['runs', 'local', '--json'], options);
  expectExit(list, 0);
  return parseLines(list.stdout)[0] as unknown as Awaited<ReturnType<typeof listed>>;
}

/** Medians over the last 2 s of one rank's lines. */
function newestTimes(lines: readonly HostLine[]): RankTimes {
  const since = (lines.at(-1)?.time ?? 0) - 2;
  const [one, ...more] = lines.filter(({ time }) => time > since).map((line) => rankTimesOf(line)!);
  return medianTimes([one!, ...more]);
}

it('is named while it is slow, and nothing is while all ranks are alike', async () => {
  const words = ['train', '--model', 'resnet20', '--data', 'synthetic', '--device', 'cpu', '--threads', '1'];
  const endless = ['--batch-size', '8', '--steps', '1000000', '--log-every', '5'];
  expectExit(
    await runCli(['run', 'local', '--ranks', '2', '--detach', '--', ...words, ...endless], options),
    0,
  );
  const { dir } = await listed();
  const metrics = join(dir, 'metrics.jsonl');
  const hosts = (): HostLine[] =>
    readLinesSoFar(metrics).flatMap((line) => {
      const metric = parseMetric(line);
      return metric.kind === 'host' ? [metric] : [];
    });
  // Long enough for a rank to be called slow, were one slow.
  const begun = await until('the first figures', () => hosts()[0]?.time);
  await until('6 s of figures', () => (hosts().at(-1)?.time ?? 0) > begun + 6);
  const before = await listed();
  expect(before.health.level, before.health.text).not.toBe('warning');

  end = slowDown(() => [dir]);
  const slow = await until('a slow rank', async () => {
    const { health } = await listed();
    return health.level === 'warning' && health;
  });
  expect(slow).toMatchObject({ level: 'warning', kind: 'slow-rank' });
  expect(slow.text).toMatch(/^slow: rank 1 on \S+, computes \d+% longer than the median of the others$/);
  // The first rank waits about as long as the second one computes longer.
  const [first, second] = [0, 1].map((rank) => newestTimes(hosts().filter((line) => line.rank === rank)));
  expect(second?.computeMs).toBeGreaterThan(1.25 * (first?.computeMs ?? Infinity));
  expect(first?.commMs).toBeGreaterThan(second?.commMs ?? Infinity);
  expect(first?.inputMs).toBeLessThan(first?.computeMs ?? 0);

  end();
  const over = await until('the end of it', async () => {
    const { health } = await listed();
    return health.kind === 'slow-rank' ? undefined : health;
  });
  expect(over).toMatchObject({ level: 'note', kind: 'recovered' });
  expect(over.text).toMatch(/^recovered: rank 1 on \S+ is as fast as the others again$/);
});
