// Ticks in the list of hosts while the list is drawn anew: they stay, on the screen and in the
// answer.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Host } from '../../../../../src/core/contracts/profileSchema.js';
import { askHosts } from '../../../../../src/ui/commands/addCluster/askHosts.js';
import { latency, SlowQuickPick } from '../../../support/slowQuickPick.js';

const hosts = ['gpu1', 'gpu2', 'gpu3', 'gpu4'];
/** When ssh has said where the hosts are, in ms from the start. */
const describedAt = 200;
let box: SlowQuickPick;
/** What becomes of a command of the editor. */
let answered: (...words: unknown[]) => Promise<void>;

vi.mock('vscode', () => ({
  ThemeIcon: vi.fn(),
  window: { createQuickPick: () => box },
  commands: { executeCommand: (...words: unknown[]) => answered(...words) },
}));
vi.mock('../../../../../src/core/ssh/config/configuredHosts.js', () => ({
  configuredHosts: () => Promise.resolve(hosts),
}));
vi.mock('../../../../../src/core/ssh/config/configReader.js', () => ({
  ConfigReader: class {
    async read({ host }: { host: string }): Promise<unknown> {
      await new Promise((resolve) => setTimeout(resolve, describedAt));
      return { user: 'ada', hostName: `${host}.lab`, port: 22 };
    }
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
  box = new SlowQuickPick();
  answered = () => box.passed();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Does each thing at its time, then Enter. What was seen ticked before Enter, and the answer. */
async function asked(acts: readonly [at: number, act: () => unknown][]) {
  const answer = askHosts('Add Cluster');
  for (const [at, act] of acts) setTimeout(act, at);
  await vi.advanceTimersByTimeAsync(5000);
  const seen = box.ticked;
  box.accept();
  await vi.advanceTimersByTimeAsync(latency);
  const chosen = (await answer) as Host[];
  return { seen, chosen: chosen.map(({ host }) => host) };
}
const tick = (label: string) => (): void => {
  expect(box.toggle(label)).toBe(true);
};

it('keeps a tick that was made when the list was about to be drawn with what ssh said', async () => {
  const before = describedAt + latency / 2;
  const { seen, chosen } = await asked([
    [before, tick('gpu1')],
    [1000, tick('gpu3')],
  ]);
  expect(seen).toEqual(['gpu1', 'gpu3']);
  expect(chosen).toEqual(['gpu1', 'gpu3']);
});

it('takes back a tick that was taken back in that moment', async () => {
  const { seen, chosen } = await asked([
    [100, tick('gpu1')],
    [110, tick('gpu2')],
    [describedAt + latency / 2, tick('gpu1')],
  ]);
  expect(seen).toEqual(['gpu2']);
  expect(chosen).toEqual(['gpu2']);
});

it('ticks the host that was meant, where a text was typed the moment before', async () => {
  const { seen, chosen } = await asked([
    [
      500,
      () => {
        box.type('g');
      },
    ],
    [500 + latency, tick('gpu2')],
  ]);
  expect(seen).toEqual(['gpu2']);
  expect(chosen).toEqual(['gpu2']);
});

it('keeps what was typed and ticked, when other text is typed', async () => {
  const { chosen } = await asked([
    [
      500,
      () => {
        box.type('ada@far');
      },
    ],
    [1000, tick('ada@far')],
    [
      1500,
      () => {
        box.type('');
      },
    ],
    [2000, tick('gpu4')],
  ]);
  expect(box.listed).toEqual([...hosts, 'ada@far']);
  expect(chosen).toEqual(['gpu4', 'far']);
});

it('leaves no key of a context set', async () => {
  const keys = new Map<unknown, unknown>();
  answered = (_, key, value) => {
    keys.set(key, value);
    return box.passed();
  };
  await asked([[500, tick('gpu1')]]);
  expect([...keys.values()]).toEqual([false]);
});

it('goes on where the editor refuses the command', async () => {
  answered = async () => {
    await box.passed();
    throw new Error('Canceled');
  };
  const { chosen } = await asked([
    [describedAt + latency / 2, tick('gpu1')],
    [1000, tick('gpu3')],
    [1500, tick('gpu1')],
  ]);
  expect(box.ticked).toEqual(['gpu3']);
  expect(chosen).toEqual(['gpu3']);
});

it('loses no tick of random times', async () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 300; round++) {
    box = new SlowQuickPick();
    const meant = hosts.filter(() => random(3) > 0);
    if (meant.length === 0) continue;
    const ticks = meant.map((host): [number, () => unknown] => [latency + 1 + random(500), tick(host)]);
    const texts = ['g', 'gp', 'x', ''].map((text): [number, () => unknown] => [
      latency + random(500),
      () => {
        box.type(text);
      },
    ]);
    const { seen, chosen } = await asked([...ticks, ...texts]);
    expect([...seen].sort(), `round ${round}`).toEqual(meant);
    expect([...chosen].sort(), `round ${round}`).toEqual(meant);
  }
});
