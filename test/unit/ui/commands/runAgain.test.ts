// Run Again on a profile that has lost hosts of the last run, or is of another kind: nothing
// starts, and the form is offered.
import { beforeEach, expect, it, vi } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { runAgain } from '../../../../src/ui/commands/start/runAgain.js';
import type { RecentRun } from '../../../../src/ui/recentRuns.js';

const { did, editor } = vi.hoisted(() => ({
  did: [] as unknown[][],
  editor: { answer: undefined as string | undefined },
}));

vi.mock('vscode', () => ({
  window: {
    showErrorMessage: (...words: string[]) => {
      did.push(['said', ...words]);
      return Promise.resolve(editor.answer);
    },
  },
}));
vi.mock('../../../../src/ui/commands/start/startRun.js', () => ({
  startRun: (_ui: unknown, run: unknown) => Promise.resolve(did.push(['started', run])),
}));
vi.mock('../../../../src/ui/commands/start/newRun.js', () => ({
  newRunLike: (_ui: unknown, run: unknown) => Promise.resolve(did.push(['form', run])),
}));

const last: RecentRun = { profile: 'lab', words: ['train'], hosts: ['gpu1', 'gpu9'] };
const again = (...hosts: string[]): Promise<void> =>
  againOn({ name: 'lab', kind: 'ssh', hosts: hosts.map((host) => ({ host })) });
const againOn = (profile: Profile): Promise<void> => {
  const services = {
    logger: { log: () => undefined },
    backend: () => Promise.resolve({ session: () => Promise.resolve({ profile }) }),
    context: { globalState: { get: () => [last] } },
  };
  return runAgain({ services, showOutput: () => undefined } as unknown as Parameters<typeof runAgain>[0]);
};
const said = [
  'said',
  'gpu9 is no longer a host of profile lab; ranks may be on gpu1, gpu2. Choose hosts that are there in the form, for example gpu1.',
  'Change…',
  'Show Output',
];

beforeEach(() => {
  did.length = 0;
  editor.answer = undefined;
});

it('starts the same run while all its hosts are there', async () => {
  await again('gpu1', 'gpu9');
  expect(did).toEqual([['started', last]]);
});

it('says which one is lost and what to do, and starts nothing', async () => {
  await again('gpu1', 'gpu2');
  expect(did).toEqual([said]);
});

it('opens the form like that run where the user wants it', async () => {
  editor.answer = 'Change…';
  await again('gpu1', 'gpu2');
  expect(did).toEqual([said, ['form', last]]);
});

it.each([
  [{ kind: 'local' }, 'profile lab is this machine alone now'],
  [{ kind: 'slurm', hosts: [{ host: 'login' }] }, 'Slurm chooses the nodes of profile lab now'],
] as const)('says what a profile of another kind cannot give: %j', async (kind, why) => {
  editor.answer = 'Change…';
  await againOn({ ...kind, name: 'lab' } as Profile);
  const what = `the run asked for the hosts gpu1, gpu9, and ${why}. Start it from the form, which leaves that out.`;
  expect(did).toEqual([
    ['said', what, 'Change…', 'Show Output'],
    ['form', last],
  ]);
});
