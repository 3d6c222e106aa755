// Run time, on the x axis of the dashboard and of a comparison: without the pauses between a stop
// and a resume.
import { describe, expect, it } from 'vitest';
import { heldSeconds, pausesOf } from '../../../src/core/cost/heldTime.js';
import type { RunFile } from '../../../src/core/contracts/runSchema.js';
import { ChartData } from '../../../src/webview/dashboard/charts/chartData.js';
import { PageModel } from '../../../src/webview/dashboard/model/model.js';
import { simulated } from '../../webview/simulatedOptions.js';
import { SimulatedRun } from '../../webview/simulatedRun.js';

const started = 1_700_000_000;

function modelOf(run: SimulatedRun): PageModel {
  const model = new PageModel();
  model.apply(run.full());
  return model;
}

/** It ran for so many seconds, and was then resumed after a pause; as often as there are pairs. */
function resumed(...parts: [runs: number, pause: number][]): SimulatedRun {
  const run = new SimulatedRun(simulated.local, started);
  for (const [runs, pause] of parts) {
    run.run(runs);
    run.end('stopped', null);
    run.resume(pause);
  }
  run.run(50);
  return run;
}

it('is that of a comparison, whenever the run was stopped and resumed', () => {
  const earlier: RunFile['earlier'] = [
    { from: 1000, to: 1100 },
    { from: 5000, to: 5030 },
    { from: 5030, to: 5040 }, // again at once
  ];
  const run = { earlier };
  const state = { started: 9000, ended: 9500, updated: 9500 };
  expect(pausesOf(run, state)).toEqual([
    { from: 1100, to: 5000 },
    { from: 5040, to: 9000 },
  ]);
  const model = new PageModel();
  const head = { started: 1000, pauses: pausesOf(run, state) };
  Object.assign(model, { head });
  for (let time = 1000; time <= 9500; time += 7) {
    expect(model.runTime(time)).toBe(heldSeconds(run, state, time));
  }
  expect(pausesOf({}, state)).toEqual([]);
  expect(pausesOf(null, state)).toEqual([]);
  // A start whose state is not there yet: the newest start that is known stands in both.
  expect(pausesOf({ earlier: [{ from: 9000, to: 9500 }] }, state)).toEqual([]);
});

describe('the charts of a run that was resumed', () => {
  it('go on where they stopped, and say where a pause was', () => {
    const run = resumed([100, 3600], [200, 86_400]);
    const model = modelOf(run);
    const data = new ChartData(model, 0);
    const gaps = data.x.slice(1).map((x, row) => x - (data.x[row] ?? x));
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(Math.max(...gaps)).toBeLessThan(10);
    expect(data.x.at(-1)).toBeGreaterThan(340);
    expect(data.x.at(-1)).toBeLessThanOrEqual(350);
    expect(data.secondsOf(data.x.at(-1)!)).toBeCloseTo(data.x.at(-1)!, 6);
    expect(model.cuts.map(({ at, seconds }) => [Math.round(at), seconds])).toEqual([
      [100, 3600],
      [300, 86_400],
    ]);
    const resumes = model.marks.filter(({ kind }) => kind === 'resume');
    expect(resumes.map((mark) => Math.round(data.xOf(mark)))).toEqual([100, 300]);
    expect(model.allWithoutPauses(model.hosts[0]!.time).at(-1)).toBeCloseTo(started + 350, 0);
  });

  it('are those of before for a run without pauses, as are the very columns', () => {
    const run = new SimulatedRun(simulated.local, started);
    run.run(60);
    const model = modelOf(run);
    expect(model.cuts).toEqual([]);
    expect(model.allWithoutPauses(model.steps.time)).toBe(model.steps.time);
    expect(new ChartData(model, 0).x).toEqual(model.steps.time.map((time) => time - started));
  });

  it('move rows that are drawn already, when a pause becomes known after them', () => {
    const run = resumed([100, 3600]);
    const model = modelOf(run);
    const { pauses } = model.head!;
    model.head!.pauses = [];
    const data = new ChartData(model, 0);
    expect(data.x.at(-1)).toBeGreaterThan(3700);
    model.head!.pauses = pauses;
    data.update(model, 0, 'time');
    expect(data.x.at(-1)).toBeLessThanOrEqual(150);
  });
});
