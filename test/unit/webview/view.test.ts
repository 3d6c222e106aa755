import { describe, expect, it } from 'vitest';
import { absence } from '../../../src/webview/dashboard/model/absence.js';
import { count } from '../../../src/webview/dashboard/model/format.js';
import { ChartData } from '../../../src/webview/dashboard/charts/chartData.js';
import {
  chartSpecs,
  chartTable,
  shownPoints,
  hasData,
  legendAt,
  summary,
} from '../../../src/webview/dashboard/charts/chartSpecs.js';
import { clusterMarks } from '../../../src/webview/dashboard/model/clusters.js';
import { heatRows, heatValue, sampleColumns } from '../../../src/webview/dashboard/devices/heatGrid.js';
import { byTime, shownLines, sourcesOf } from '../../../src/webview/dashboard/log/logLines.js';
import { PageModel } from '../../../src/webview/dashboard/model/model.js';
import { instead, pageState, staleness, usualDistance } from '../../../src/webview/dashboard/model/phase.js';
import { initialView, readView } from '../../../src/webview/dashboard/model/viewState.js';
import type { LogLine } from '../../../src/webview/protocol.js';
import { simulated } from '../../webview/simulatedOptions.js';
import { SimulatedRun } from '../../webview/simulatedRun.js';

const started = 1_700_000_000;

function modelOf(run: SimulatedRun): PageModel {
  const model = new PageModel();
  model.apply(run.full());
  return model;
}

function run(kind: keyof typeof simulated, seconds: number): SimulatedRun {
  const simulation = new SimulatedRun(simulated[kind], started);
  simulation.run(seconds);
  return simulation;
}

describe('the page state', () => {
  it('has a word for every situation', () => {
    expect(pageState(new PageModel(), undefined)).toBe('connecting');
    expect(pageState(new PageModel(), 'gone')).toBe('problem');
    expect(pageState(modelOf(run('local', 5)), undefined)).toBe('live');
    expect(pageState(modelOf(run('local', 0)), undefined)).toBe('waiting');
    expect(pageState(modelOf(run('command', 90)), undefined)).toBe('command');
    const lost = run('local', 5);
    lost.connection.state = 'lost';
    expect(pageState(modelOf(lost), undefined)).toBe('lost');
    lost.end('failed', 'exit 1');
    expect(pageState(modelOf(lost), undefined)).toBe('over');
  });

  it('says why there are no charts, and nothing where there are', () => {
    expect(instead(modelOf(run('local', 5)))).toBeUndefined();
    const command = run('command', 90);
    expect(instead(modelOf(command))).toMatch(/reported no figures yet\. .*own-metrics\.md/);
    command.end('finished', null);
    expect(instead(modelOf(command))).toMatch(/reported no figures\. /);
    const starting = run('local', 0);
    starting.status = 'starting';
    expect(instead(modelOf(starting))).toMatch(/^Starting resnet20/);
    starting.end('failed', 'exit 1');
    expect(instead(modelOf(starting))).toBe('The run failed before its first step.');
  });

  it('calls figures stale after five seconds, and those of a run that is over never', () => {
    expect(staleness(100, 104.9, false)).toBeUndefined();
    expect(staleness(100, 108, false)).toBe(8);
    expect(staleness(100, 108, true)).toBeUndefined();
    expect(staleness(undefined, 108, false)).toBeUndefined();
  });
});

it('a run whose checkpoints come before its first figures says that it trains', () => {
  const trains = run('local', 0);
  const model = modelOf(trains);
  expect(instead(model)).toMatch(/^Loading data for resnet20/);
  const update = trains.update();
  model.apply({ ...update, progress: { ...update.progress, step: 8 } });
  expect(instead(model)).toMatch(/^Training resnet20, at step 8\. Charts appear with the first figures/);
  trains.end('failed', 'the weights after step 8 are not finite numbers');
  const over = trains.update();
  model.apply({ ...over, progress: { ...over.progress, step: 8 } });
  expect(instead(model)).toMatch(/^The run failed at step 8, before its first figures/);
});

it('figures of a rank are old by the usual distance of its lines', () => {
  const mark = (time: number) => ({ time, step: null, kind: 'start', text: '' }) as const;
  // The first line came 30 s after the start: the next may take as long.
  expect(usualDistance({ marks: [mark(100)] }, [130])).toBe(30);
  expect(staleness(130, 152, false, 30)).toBeUndefined();
  expect(staleness(130, 195, false, 30)).toBe(65);
  // Distances of another start do not count.
  expect(usualDistance({ marks: [mark(100), mark(500)] }, [130, 160, 510, 522])).toBe(12);
  expect(usualDistance({ marks: [] }, [10, 13, 15])).toBe(3);
});

describe('an absence', () => {
  it('is told with what happened in it', () => {
    const cluster = run('cluster', 1900);
    expect(absence(modelOf(cluster), started + 100)).toMatch(
      /^While you were away \(30 min\): 1 restart, 1 rank lost, \d checkpoints, best \d+\.\d%$/,
    );
    cluster.end('finished', null);
    expect(absence(modelOf(cluster), started + 100)).toMatch(/, the run finished$/);
  });

  it('is not told when it was short, unknown, or nothing happened', () => {
    const model = modelOf(run('cluster', 1900));
    expect(absence(model, undefined)).toBeUndefined();
    expect(absence(model, model.now - 200)).toBeUndefined();
    expect(absence(modelOf(run('command', 900)), started + 1)).toBeUndefined();
  });
});

describe('charts', () => {
  it('derive the same from updates as from everything at once', () => {
    const local = run('local', 30);
    const model = modelOf(local);
    const grown = new ChartData(model, 0.6);
    grown.update(model, 0.6, 'time');
    for (let round = 0; round < 4; round++) {
      local.run(7);
      model.apply(local.update());
      grown.update(model, 0.6, 'time');
    }
    const whole = new ChartData(modelOf(local), 0.6);
    expect(grown.x).toEqual(whole.x);
    expect(grown.stack).toEqual(whole.stack);
    expect(grown.smoothed('loss')).toEqual(whole.smoothed('loss'));
    grown.update(model, 0.9, 'time');
    expect(grown.smoothed('loss')).toEqual(new ChartData(modelOf(local), 0.9).smoothed('loss'));
  });

  it('tell their newest figures in legend, summary and table', () => {
    const local = run('local', 200);
    const model = modelOf(local);
    const data = new ChartData(model, 0.6);
    for (const spec of chartSpecs) {
      expect(hasData(spec, data, model)).toBe(true);
      const newest = legendAt(spec, data, model, data.length - 1).map(({ value }) => value);
      const table = chartTable(spec, data, model);
      expect(table.rows.map(([, step]) => step)).toEqual(model.steps.step.map(count).reverse());
      expect(table.rows[0]?.slice(2)).toEqual(newest);
      expect(chartTable(spec, data, model, 7).rows).toEqual(table.rows.slice(0, 7));
      for (const value of newest) expect(summary(spec, data, model)).toContain(value);
    }
  });

  it('have the smoothed figure in the legend beside the measured one', () => {
    const model = modelOf(run('local', 200));
    const [loss] = chartSpecs.filter(({ id }) => id === 'loss');
    const data = new ChartData(model, 0.6);
    const row = data.length - 1;
    const [train, evaluated] = legendAt(loss!, data, model, row);
    expect(train?.smoothed).toBe(loss!.format(data.smoothed('loss')[row]!));
    expect(train?.smoothed).not.toBe(train?.value);
    expect(evaluated).not.toHaveProperty('smoothed');
    expect(legendAt(loss!, new ChartData(model, 0), model, row)[0]).not.toHaveProperty('smoothed');
  });

  it('stand on the axis that was chosen, and what happened stands among them', () => {
    const model = modelOf(run('local', 200));
    const data = new ChartData(model, 0, 'step');
    expect(data.x).toEqual(model.steps.step);
    const [row, evaluation] = [40, model.evaluations[0]!];
    expect(data.xOf({ time: model.steps.time[row]!, step: null })).toBe(model.steps.step[row]);
    expect(data.xOf(evaluation)).toBe(evaluation.step);
    expect(data.secondsOf(model.steps.step[row]!)).toBeCloseTo(model.steps.time[row]! - model.origin, 6);
    data.update(model, 0, 'epoch');
    expect(data.x).toEqual(model.steps.epoch);
    expect(data.xOf({ time: 0, step: model.steps.step[row]! })).toBe(model.steps.epoch[row]);
    data.update(model, 0, 'time');
    expect(data.xOf(evaluation)).toBe(evaluation.time - model.origin);
  });

  it('leave out a top-5 that is always all', () => {
    const model = modelOf(run('local', 200));
    const accuracy = chartSpecs.find(({ id }) => id === 'accuracy')!;
    const labels = (): string[] => shownPoints(accuracy, model).map(({ label }) => label);
    expect(labels()).toEqual(['eval top-1', 'eval top-5']);
    for (const evaluation of model.evaluations) evaluation.top5 = 1;
    expect(labels()).toEqual(['eval top-1']);
  });

  it('layers of the step time add up to the step', () => {
    const model = modelOf(run('local', 60));
    const data = new ChartData(model, 0);
    for (const [row, top] of data.stack[2].entries()) expect(top).toBeCloseTo(model.steps.stepMs[row]!, 6);
  });
});

describe('the timeline', () => {
  it('puts marks together that would lie on one another, under the gravest of them', () => {
    const mark = (time: number, kind: 'checkpoint' | 'rank-lost') => ({ time, kind, step: null, text: '' });
    const clusters = clusterMarks(
      [mark(10, 'checkpoint'), mark(11, 'rank-lost'), mark(50, 'checkpoint')],
      (time) => time,
      [0, 100],
      0.05,
    );
    expect(clusters.map(({ kind, marks }) => [kind, marks.length])).toEqual([
      ['rank-lost', 2],
      ['checkpoint', 1],
    ]);
    expect(clusterMarks([mark(10, 'checkpoint')], (time) => time, [20, 30], 0.1)).toEqual([]);
    expect(clusterMarks([mark(10, 'checkpoint')], (time) => time, [10, 10], 0.1)).toEqual([]);
  });
});

describe('the log', () => {
  const line = (serial: number, source: string, level: LogLine['level'], text: string): LogLine => ({
    serial,
    time: null,
    source,
    level,
    text,
  });
  const lines = [
    line(0, 'journal', 'info', 'started'),
    line(1, 'rank 10', 'error', 'Out of memory'),
    line(2, 'rank 2', 'warning', 'slow'),
    line(3, 'rank 2', 'info', 'memory'),
  ];
  const all = { source: '', errorsOnly: false, text: '', until: Infinity };

  it('shows what passes, the newest of it', () => {
    const serials = (filter: object, most?: number): number[] =>
      shownLines(byTime(lines), { ...all, ...filter }, most).map(({ serial }) => serial);
    expect(serials({})).toEqual([0, 1, 2, 3]);
    expect(serials({}, 2)).toEqual([2, 3]);
    expect(serials({ text: ' MEMORY' })).toEqual([1, 3]);
    expect(serials({ errorsOnly: true })).toEqual([1]);
    expect(serials({ source: 'rank 2' })).toEqual([2, 3]);
    expect(serials({ until: 1 })).toEqual([0, 1]);
  });

  it('is in the order of time, also where one source came after the other', () => {
    const at = (serial: number, source: string, time: number | null): LogLine => ({
      ...line(serial, source, 'info', ''),
      time,
    });
    const late = [
      at(0, 'journal', 10),
      at(1, 'journal', 50),
      at(2, 'eval', 20),
      at(3, 'eval', null),
      at(4, 'eval', 50),
      at(5, 'rank 0', 9),
      at(6, 'rank 0', 30),
      // The clock was set back: what the rank printed later stays behind.
      at(7, 'rank 0', 15),
    ];
    const serials = shownLines(byTime(late), all).map(({ serial }) => serial);
    expect(serials).toEqual([5, 0, 2, 3, 6, 7, 1, 4]);
    expect(shownLines(byTime(late), { ...all, until: 4 }, 2).map(({ serial }) => serial)).toEqual([1, 4]);
  });

  it('names its sources in an order that stays', () => {
    expect(sourcesOf(lines)).toEqual(['journal', 'rank 2', 'rank 10']);
  });
});

describe('the heat map', () => {
  it('shows in each column the newest sample in it, and nothing where there is none', () => {
    expect([...sampleColumns([10, 20, 30], 0, 50, 5)]).toEqual([0, 1, 2, 2, -1]);
    expect([...sampleColumns([], 0, 10, 2)]).toEqual([-1, -1]);
  });

  it('has a row for each GPU, from 0 to 1', () => {
    const rows = heatRows(modelOf(run('huge', 30)).hosts);
    expect(rows.length).toBe(256);
    for (const row of rows) {
      const value = heatValue(row, 20, 'memory')!;
      expect(value > 0 && value <= 1).toBe(true);
    }
    expect(heatValue(rows[0]!, 1000, 'utilization')).toBeNull();
  });
});

describe('what is kept', () => {
  it('comes back as it was', () => {
    const view = {
      ...initialView(),
      zoom: [1, 2] as [number, number],
      smoothing: 0.3,
      tables: ['loss'],
      filter: 'x',
    };
    expect(readView(JSON.parse(JSON.stringify(view)))).toEqual(view);
  });

  it.each([undefined, null, 7, {}, { zoom: [2, 1], smoothing: 'much', tables: 'all', heat: 3, paused: 1 }])(
    'is left at its defaults when it does not fit: %j',
    (kept) => {
      expect(readView(kept)).toEqual(initialView());
    },
  );
});
