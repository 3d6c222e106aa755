// What the journal says of a folder that goes from the head to the other nodes.
import { expect, it } from 'vitest';
import { TablePrinter } from '../../../../src/cli/printer.js';
import { parseEvent, type RunEvent } from '../../../../src/core/contracts/runSchema.js';
import { eventLevel, eventText, markOf } from '../../../../src/core/model/marks.js';
import { healthOf } from '../../../../src/core/model/runHealth.js';
import { RunJournal } from '../../../../src/core/model/runJournal.js';
import { RunMetrics } from '../../../../src/core/model/runMetrics.js';

const event = (kind: string, fields: object, generation = 2): RunEvent =>
  parseEvent({ time: 5, generation, kind, ...fields });
const to = (...hosts: string[]): { folder: string; hosts: string[] } => ({ folder: 'checkpoints', hosts });
const sharing = event('sharing', to('gpu2', 'gpu3'));
const shared = (more: object = {}): RunEvent =>
  event('shared', { ...to('gpu2', 'gpu3'), files: 3, bytes: 1.2e9, seconds: 14.02, ...more });
const waiting = event('waiting_for_nodes', { hosts: ['gpu2'] });
const killed = event(
  'rank_exited',
  { rank: 1, host: 'gpu2', pid: 7, exit_code: null, signal: 9, last_step: null },
  1,
);

it('says what is copied where, and then how much it was', () => {
  expect(eventText(sharing)).toBe('copies checkpoints to gpu2, gpu3');
  expect(eventText(shared())).toBe('copied checkpoints to gpu2, gpu3: 3 files, 1.2 GB in 14.0 s');
  expect(eventText(shared({ hosts: ['gpu2'], files: 1, bytes: 12_400, seconds: 0.04 }))).toBe(
    'copied checkpoints to gpu2: 1 file, 13 kB in 0.0 s',
  );
  expect(eventText(shared({ files: 0, bytes: 0 }))).toContain(': 0 files, 0 kB in');
  expect([sharing, shared()].map((one) => [eventLevel(one), markOf(one)])).toEqual([
    ['info', undefined],
    ['info', undefined],
  ]);
});

it('a terminal shows both lines', () => {
  const lines: string[] = [];
  const line = (text: string): void => {
    lines.push(text.trim());
  };
  const none = (): void => undefined;
  const printer = new TablePrinter({ line, json: none, bytes: none, note: none });
  for (const value of [sharing, shared()]) printer.event({ offset: 0, raw: value, value });
  expect(lines).toEqual([eventText(sharing), eventText(shared())]);
});

it('the health of the run says that it is copied, in place of a wait for nodes, until that is done', () => {
  const textOf = (...events: RunEvent[]): string => {
    const journal = new RunJournal();
    for (const one of events) journal.add(one);
    const starts = { resumes: [], restarts: 0, sinceResume: 0 };
    const run = { status: 'starting', reason: null, generation: 1, starts, maxRestarts: 2 } as const;
    return healthOf({
      ...run,
      isOwnProgram: true,
      lost: undefined,
      journal,
      metrics: new RunMetrics(),
      now: 9,
    }).text;
  };
  expect(textOf(waiting, sharing)).toBe('starting: copies checkpoints to gpu2, gpu3');
  expect(textOf(waiting, sharing, shared())).toBe('starting');
  expect(textOf(sharing, waiting)).toBe('waiting for gpu2');
  const why = 'restarting: rank 1 on gpu2 was killed by signal 9 (SIGKILL), restart 1 of 2';
  expect(textOf(killed, waiting, sharing)).toBe(`${why}; copies checkpoints to gpu2, gpu3`);
  expect(textOf(killed, sharing, shared())).toBe(why);
  const started = event('started', { world: 2, argv: [] });
  expect(textOf(sharing, started)).toBe('starting');
});
