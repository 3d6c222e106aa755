import { expect, it } from 'vitest';
import { Emitter } from '../../../../src/core/base/lifecycle.js';
import type { RunEvent } from '../../../../src/core/contracts/runSchema.js';
import type { AgentClient } from '../../../../src/core/agent/agentClient.js';
import type { RunOverview } from '../../../../src/core/follow/overview.js';
import { RunChanges, whyRestarted, type RunChange } from '../../../../src/core/follow/runChanges.js';
import type { ProfileRuns } from '../../../../src/core/follow/runsMonitor.js';
import type { RunStatus } from '../../../../src/core/model/runStatus.js';
import { listedRun } from '../../support/listedRun.js';

const runOf = (id: string, status: RunStatus, generation = 1, reason: string | null = null): RunOverview => {
  const run = listedRun(id, status);
  const state = { generation, reason } as NonNullable<RunOverview['entry']['state']>;
  return { ...run, entry: { ...run.entry, state } };
};

const noAgent = (): Promise<AgentClient> => Promise.reject(new Error('no connection'));

/** What a sequence of looks at one profile reports, as `id kind why`. */
async function reported(...looks: RunOverview[][]): Promise<string[]> {
  const monitor = new Emitter<readonly ProfileRuns[]>();
  const warnings: string[] = [];
  let moment = 0;
  const changes = new RunChanges({ onChange: monitor.event }, noAgent, {
    log: (_, text) => warnings.push(text),
  });
  const seen: RunChange[] = [];
  changes.onChange((change) => seen.push(change));
  for (const runs of looks) {
    monitor.fire([{ profile: 'lab', runs, problem: undefined, seen: ++moment }]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  changes.dispose();
  return seen.map(({ kind, run, why }) => `${run.entry.id} ${kind}${why === undefined ? '' : ` ${why}`}`);
}

it('says each end once, and nothing of what the first look found', async () => {
  const old = runOf('1-old', 'failed');
  expect(
    await reported(
      [runOf('2-a', 'running'), old],
      [runOf('3-b', 'starting'), runOf('2-a', 'running'), old],
      [runOf('3-b', 'failed', 1, 'out of memory'), runOf('2-a', 'evaluating'), old],
      [runOf('3-b', 'failed', 1, 'out of memory'), runOf('2-a', 'finished'), old],
      [runOf('3-b', 'failed', 1, 'out of memory'), runOf('2-a', 'finished'), old],
    ),
  ).toEqual(['3-b failed out of memory', '2-a finished']);
});

it('says how a run ended that began and ended between two looks, but nothing of an older one', async () => {
  const before = runOf('5-a', 'finished');
  const quick = runOf('6-b', 'failed', 1, 'no such file');
  const older = runOf('4-c', 'failed'); // it came into the list because another one was deleted
  expect(await reported([before], [quick, before, older])).toEqual(['6-b failed no such file']);
});

it('says how the first run of a profile ended, of which an earlier look found none', async () => {
  expect(await reported([], [runOf('1-a', 'failed', 1, 'no such file')])).toEqual([
    '1-a failed no such file',
  ]);
});

it('says nothing of what the first look finds, though the profile was listed before', () => {
  const monitor = new Emitter<readonly ProfileRuns[]>();
  const changes = new RunChanges({ onChange: monitor.event }, noAgent, { log: () => undefined });
  const seen: RunChange[] = [];
  changes.onChange((change) => seen.push(change));
  monitor.fire([{ profile: 'lab', runs: [], problem: undefined, seen: undefined }]);
  monitor.fire([{ profile: 'lab', runs: [runOf('1-a', 'failed')], problem: undefined, seen: 1 }]);
  expect(seen).toEqual([]);
  changes.dispose();
});

it('says a restart, and only the end where both came between two looks', async () => {
  expect(
    await reported(
      [runOf('1-a', 'running'), runOf('1-b', 'running')],
      [runOf('1-a', 'starting', 2), runOf('1-b', 'failed', 3, 'again')],
      [runOf('1-a', 'running', 2), runOf('1-b', 'failed', 3, 'again')],
    ),
  ).toEqual(['1-b failed again', '1-a restarted']);
});

it('says that a run is interrupted, and nothing when somebody starts it again', async () => {
  expect(
    await reported([runOf('1-a', 'running')], [runOf('1-a', 'interrupted')], [runOf('1-a', 'running', 2)]),
  ).toEqual(['1-a interrupted']);
});

const base = { time: 1, generation: 1 };
const lost: RunEvent = {
  ...base,
  kind: 'rank_exited',
  rank: 1,
  host: 'gpu2',
  pid: 7,
  exit_code: null,
  signal: 9,
  last_step: 80,
};

it.each<[string | undefined, RunEvent[]]>([
  [
    'rank 1 on gpu2 was killed by signal 9 (SIGKILL), last step 80',
    [{ ...lost, rank: 0, signal: null, exit_code: 0 }, lost],
  ],
  ['gpu2 was lost: no answer', [lost, { ...base, kind: 'node_lost', host: 'gpu2', reason: 'no answer' }]],
  ['no heartbeat from rank 1 since step 5', [lost, { ...base, kind: 'hang', ranks: [1], last_step: 5 }]],
  [
    'no heartbeat from ranks 0, 1 since step 5; rank 1 on gpu2 is stopped',
    [
      {
        ...base,
        kind: 'hang',
        ranks: [0, 1],
        doing: [{ rank: 1, host: 'gpu2', what: 'is stopped' }],
        last_step: 5,
      },
    ],
  ],
  ['power', [lost, { ...base, kind: 'restarting', reason: 'power', restarts_left: 1 }]],
  [undefined, [{ ...lost, generation: 2 }]],
])('gives the reason of a restart: %s', (expected, events) => {
  expect(whyRestarted(events, 2)).toBe(expected);
});

const ill = (run: RunOverview, kind: 'stalled' | 'node-lost' | 'disk-low' | 'bad-images'): RunOverview => ({
  ...run,
  health: { level: 'warning', kind, text: `${kind} now` },
});

it('says a trouble once, and not the restart that comes of it', async () => {
  const run = runOf('1-a', 'running');
  expect(
    await reported(
      [run],
      [ill(run, 'stalled')],
      [ill(run, 'stalled')],
      [runOf('1-a', 'running', 2)],
      [ill(runOf('1-a', 'running', 2), 'disk-low')],
      [runOf('1-a', 'running', 3)],
    ),
  ).toEqual(['1-a stalled stalled now', '1-a disk-low disk-low now', '1-a restarted']);
});

it('says once that a run has bad images, whatever comes between', async () => {
  const run = runOf('1-a', 'running');
  const again = runOf('1-a', 'running', 2);
  expect(
    await reported(
      [run],
      [ill(run, 'bad-images')],
      [ill(run, 'stalled')],
      [ill(run, 'bad-images')],
      [again],
      [ill(again, 'bad-images')],
    ),
  ).toEqual(['1-a bad-images bad-images now', '1-a stalled stalled now']);
});

it('says nothing of bad images that the first look found', async () => {
  const run = runOf('1-a', 'running');
  expect(await reported([ill(run, 'bad-images')], [run], [ill(run, 'bad-images')])).toEqual([]);
});

it('says a restart as soon as the supervisor does, once, and none that a trouble explains', async () => {
  const run = runOf('1-a', 'running');
  const announced = { ...run, restarting: 'rank 1 was killed' };
  const again = runOf('1-a', 'starting', 2);
  expect(await reported([run], [announced], [announced], [again])).toEqual([
    '1-a restarting rank 1 was killed',
  ]);
  expect(await reported([run], [{ ...run, restarting: '' }], [again], [runOf('1-a', 'running', 3)])).toEqual([
    '1-a restarting',
    '1-a restarted',
  ]);
  expect(await reported([run], [ill(announced, 'node-lost')], [announced], [again])).toEqual([
    '1-a node-lost node-lost now',
  ]);
});
