import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { bytesText, rateText, table } from '../../../src/cli/format.js';
import { durationText } from '../../../src/core/base/duration.js';
import type { Output } from '../../../src/cli/output.js';
import { JsonPrinter, TablePrinter } from '../../../src/cli/printer.js';
import type { DeviceChoice, RunEvent, RunFile } from '../../../src/core/contracts/runSchema.js';
import type { Metric } from '../../../src/core/contracts/metricsSchema.js';
import type { RunSummary } from '../../../src/core/model/runSummary.js';
import { evalLine, startLine, stepLine } from '../support/lines.js';

function recorder(): { output: Output; lines: string[] } {
  const lines: string[] = [];
  const line = (text: string): void => {
    lines.push(text);
  };
  return {
    output: {
      line,
      json: (value) => {
        line(JSON.stringify(value));
      },
      bytes: (data) => {
        line(data.toString());
      },
      note: line,
    },
    lines,
  };
}
const followed = (value: Metric): { offset: number; raw: unknown; value: Metric } => ({
  offset: 7,
  raw: value,
  value,
});
const summary: RunSummary = {
  id: 'r',
  dir: nodePath('/w/r'),
  phase: 'finished',
  exit_code: 0,
  images_per_sec: 512.34,
  images_per_sec_writers: 1,
  median_images_per_sec: 520,
  seconds: 75,
  cost: { amount: 0.51, currency: 'USD' },
  gpu_hours: 12.25,
  step: 300,
  top1: 0.9,
  best_top1: 0.95,
  train_top1: 0.99,
  train_loss: 0.1,
  loss_lost_since: null,
  servers: null,
  checkpoints: 3,
  reason: null,
  evaluator: null,
};

describe('for a program', () => {
  it('every line is one JSON object with the line as it stands in the file', () => {
    const { output, lines } = recorder();
    const printer = new JsonPrinter(output);
    printer.run('r', nodePath('/w/r'), null);
    printer.metric({ offset: 7, raw: { kind: 'weather' }, value: undefined });
    printer.event({ offset: 9, raw: { kind: 'created' }, value: undefined });
    printer.tensorboard('http://127.0.0.1:6006/');
    printer.summary(summary);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { type: 'run', id: 'r', dir: '/w/r', run: null },
      { type: 'metric', offset: 7, line: { kind: 'weather' } },
      { type: 'event', offset: 9, line: { kind: 'created' } },
      { type: 'tensorboard', url: 'http://127.0.0.1:6006/' },
      { type: 'summary', ...summary },
    ]);
  });
});

describe('for a person', () => {
  it('the summary says since which step the loss of an own program is no number', () => {
    const { output, lines } = recorder();
    new TablePrinter(output).summary({ ...summary, loss_lost_since: 4 });
    expect(lines).toContain('loss         NaN or infinite since step 4');
  });

  it('the first line says the device of a run, and why', () => {
    const device: DeviceChoice = { asked: 'auto', used: 'cpu', why: 'no GPU on gpu1' };
    const record = { ranks: 1, threadsPerRank: 2, argv: ['train'], profile: { name: 'lab' } };
    const first = (more: { device?: DeviceChoice }): string | undefined => {
      const { output, lines } = recorder();
      new TablePrinter(output).run('r', nodePath('/w/r'), { ...record, ...more } as RunFile);
      return lines[0];
    };
    expect(first({ device })).toBe('device  cpu (auto: no GPU on gpu1)');
    expect(first({ device: { asked: 'cuda', used: 'cuda', why: 'it was asked for' } })).toBe(
      'device  cuda (it was asked for)',
    );
    expect(first({})).toBe('run     r');
  });

  it('says the threads of each rank that it was asked for', () => {
    const said = (argv: string[], program = 'trainer'): string | undefined => {
      const { output, lines } = recorder();
      const run = { program, ranks: 2, threadsPerRank: 2, argv, profile: { name: 'lab' } };
      new TablePrinter(output).run('r', nodePath('/w/r'), run as unknown as RunFile);
      return lines.find((line) => line.startsWith('ranks'));
    };
    expect(said(['train'])).toBe('ranks   2 ranks, 2 threads each, profile lab');
    expect(said(['train', '--threads', '1'])).toBe('ranks   2 ranks, 1 thread each, profile lab');
    expect(said(['train', '--threads=4'])).toBe('ranks   2 ranks, 4 threads each, profile lab');
    expect(said(['x.py', '--threads', '1'], 'command')).toContain('2 threads each');
  });

  it('steps stand in aligned columns under one head', () => {
    const { output, lines } = recorder();
    const printer = new TablePrinter(output);
    printer.metric(followed(startLine()));
    printer.metric(followed(stepLine(1, { images_per_sec: 9.5 })));
    printer.metric(followed(stepLine(12345, { images_per_sec: 123456, loss: null })));
    const [head, ...rows] = lines.slice(-3);
    expect(head).toMatch(/step +epoch +loss +top-1 +lr +images\/s/);
    for (const row of rows) expect(row.length).toBe(head?.length);
    expect(rows[1]).toContain('123,456');
  });

  it('evaluations, checkpoints, failures and the end are said', () => {
    const { output, lines } = recorder();
    const printer = new TablePrinter(output);
    const at = { time: 1, generation: 1, step: 25 };
    printer.metric(followed(evalLine(25, 0.873)));
    const written = { ...at, kind: 'checkpoint', path: 'p', bytes: 1_100_000, write_ms: 12.4 } as const;
    printer.metric(followed({ ...written, held_ms: 1.2 }));
    expect(lines.at(-1)).toContain('checkpoint step 25: 1.1 MB in 12 ms, training waited 1 ms');
    printer.metric(followed({ ...at, kind: 'checkpoint_failed', message: 'No space left on device' }));
    printer.metric(followed({ ...at, kind: 'checkpoint_passed_over', path: 'p', reason: 'p is damaged' }));
    expect(lines.at(-1)).toContain('the checkpoint of step 25 was passed over: p is damaged');
    const exit = {
      kind: 'rank_exited',
      time: 1,
      generation: 1,
      rank: 1,
      host: 'h',
      pid: 4,
      exit_code: null,
      signal: 9,
      last_step: 3,
    } as const;
    printer.event({ offset: 0, raw: exit, value: exit });
    const hang = {
      kind: 'hang',
      time: 2,
      generation: 1,
      ranks: [0, 1],
      doing: [{ rank: 1, host: 'h', what: 'is stopped by a debugger' }],
      last_step: 3,
    } as const satisfies RunEvent;
    printer.event({ offset: 0, raw: hang, value: hang });
    const text = lines.join('\n');
    expect(text).toContain('eval of step 25: top-1 87.3%, loss');
    expect(text).toContain('checkpoint step 25: 1.1 MB in 12 ms');
    expect(text).toContain('No space left on device');
    expect(text).toContain('rank 1 on h was killed by signal 9 (SIGKILL), last step 3');
    expect(text).toContain('no heartbeat from ranks 0, 1 since step 3; rank 1 on h is stopped by a debugger');
  });

  it('the summary has images/s, time, accuracy, checkpoints and folder, and the reason of a failure', () => {
    const { output, lines } = recorder();
    new TablePrinter(output).summary(summary);
    const text = lines.join('\n');
    for (const part of [
      'r finished',
      '512.3, median 520.0',
      '1 min 15 s',
      '95.0% best, 90.0% last',
      '3',
      '/w/r',
    ]) {
      expect(text).toContain(part);
    }
    const served = recorder();
    const server = { host: 'h', parameters: 9, updates: 40, staleness: 2.5, staleness_max: 7 };
    new TablePrinter(served.output).summary({
      ...summary,
      servers: [
        { ...server, rank: 4, busy: 0.25 },
        { ...server, rank: 5, busy: 0.5, staleness: 3.5 },
      ],
    });
    expect(served.lines.join('\n')).toContain(
      '2, busiest 50.0% busy (rank 5 on h), gradients 3.0 updates old',
    );
    const failed = recorder();
    new TablePrinter(failed.output).summary({
      ...summary,
      phase: 'failed',
      reason: 'no data. Add some.',
      top1: null,
      best_top1: null,
    });
    expect(failed.lines.join('\n')).toContain('no data. Add some.');
    expect(failed.lines.join('\n')).toContain('99.0% (training)');
  });

  it('a stand in the queue names Slurm once', () => {
    const { output, lines } = recorder();
    const printer = new TablePrinter(output);
    const rest = { job: '7', state: '', reason: null, place: null, start: null, secondsLeft: null };
    printer.queue({ ...rest, kind: 'waiting', text: 'place 1 in work' });
    printer.queue({ ...rest, kind: 'running', text: 'job 7, on n1' });
    printer.queue({ ...rest, kind: 'ended', text: "Slurm's job 7 is over: it was cancelled (CANCELLED)" });
    expect(lines).toEqual([
      'in the queue of Slurm as job 7: place 1 in work',
      'Slurm: job 7, on n1',
      "Slurm's job 7 is over: it was cancelled (CANCELLED)",
    ]);
  });
});

describe('figures', () => {
  it('have units', () => {
    expect([0, 999, 1000, 999_600, 1_500_000, 2.5e12].map(bytesText)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.0 MB',
      '1.5 MB',
      '2.5 TB',
    ]);
    expect([0.25, 59.94, 60, 3725].map(durationText)).toEqual(['0.3 s', '59.9 s', '1 min 0 s', '1 h 2 min']);
    expect([9.87, 1234.5].map(rateText)).toEqual(['9.9', '1,235']);
  });

  it('align in tables', () => {
    expect(
      table(
        ['A', 'NUMBER'],
        [
          ['long one', '5'],
          ['b', '12345678'],
        ],
        [1],
      ),
    ).toEqual(['A           NUMBER', 'long one         5', 'b         12345678']);
  });
});
