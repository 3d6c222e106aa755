import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PageModel } from '../../../src/webview/dashboard/model/model.js';
import type { DashboardUpdate, HostColumns, LogLine, Mark } from '../../../src/webview/protocol.js';
import { simulated } from '../../webview/simulatedOptions.js';
import { SimulatedRun } from '../../webview/simulatedRun.js';

const started = 1_700_000_000;

/** What the page shows, without what it notes for itself. */
function shown(model: PageModel): unknown {
  const { head, progress, checkpoints, steps, evaluations, marks, hosts, ranks, log, now } = model;
  return { head, progress, checkpoints, steps, evaluations, marks, hosts, ranks, log, now };
}

function modelOf(...updates: DashboardUpdate[]): PageModel {
  const model = new PageModel();
  for (const update of updates) model.apply(structuredClone(update));
  return model;
}

/** A run that tells nothing but `change` after its first full update. */
function after(change: Partial<DashboardUpdate>): PageModel {
  const run = new SimulatedRun(simulated.local, started);
  run.run(10);
  const full = run.full();
  const empty = { ...run.update(), ...change };
  const model = modelOf(full);
  expect(model.apply(empty)).toBe('applied');
  return model;
}

describe('the page model', () => {
  it('holds after any updates what a full update would have given', () => {
    const pauses = fc.array(fc.double({ min: 0, max: 40, noNaN: true }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.constantFrom('local', 'cluster', 'command'), pauses, (kind, lengths) => {
        const run = new SimulatedRun(simulated[kind], started);
        const model = modelOf(run.full());
        for (const seconds of lengths) {
          run.run(seconds);
          expect(model.apply(structuredClone(run.update()))).toBe('applied');
        }
        expect(shown(model)).toEqual(shown(modelOf(run.full())));
      }),
      { numRuns: 40 },
    );
  });

  it('replaces rows that a slice tells again', () => {
    const marks = fc.array(fc.record({ keep: fc.double({ min: 0, max: 1, noNaN: true }), add: fc.nat(5) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(marks, (edits) => {
        const run = new SimulatedRun(simulated.local, started);
        const model = modelOf(run.full());
        let expected: Mark[] = structuredClone(run.marks);
        for (const { keep, add } of edits) {
          const from = Math.floor(keep * expected.length);
          const rows = Array.from({ length: add }, (_, index): Mark => ({
            time: started + index,
            step: index,
            kind: 'checkpoint',
            text: `${from} ${index}`,
          }));
          expected = [...expected.slice(0, from), ...rows];
          model.apply({ ...run.update(), marks: { from, rows } });
        }
        expect(model.marks).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('asks once when it missed something, and waits for a full update', () => {
    const run = new SimulatedRun(simulated.local, started);
    const model = modelOf(run.full());
    run.update();
    expect(model.apply(run.update())).toBe('gap');
    expect(model.apply(run.update())).toBe('early');
    expect(model.apply(run.full())).toBe('applied');
    expect(model.apply(run.update())).toBe('applied');
  });

  it('takes a slice that leaves a hole for a gap', () => {
    const run = new SimulatedRun(simulated.local, started);
    const model = modelOf(run.full());
    expect(model.apply({ ...run.update(), evaluations: { from: 3, rows: [] } })).toBe('gap');
    const host: HostColumns = structuredClone(run.hosts[0]!);
    const other = modelOf(run.full());
    expect(other.apply({ ...run.update(), hosts: [{ from: 2, rows: { ...host, host: 'unknown' } }] })).toBe(
      'gap',
    );
  });

  it('before the first full update applies nothing', () => {
    const run = new SimulatedRun(simulated.local, started);
    expect(new PageModel().apply(run.update())).toBe('early');
  });

  it('keeps log lines by serial, also when the oldest are gone', () => {
    const line = (serial: number, text = ''): LogLine => ({
      serial,
      time: null,
      source: 'rank 0',
      level: 'info',
      text,
    });
    const model = after({ log: { from: 500, rows: [line(500), line(501)] } });
    expect(model.log.at(-1)?.serial).toBe(501);
    const replaced = after({ log: { from: 1, rows: [line(1, 'again')] } });
    expect(replaced.log.map(({ serial }) => serial)).toEqual([0, 1]);
    expect(replaced.log.at(-1)?.text).toBe('again');
  });

  it('says from which step on rows are new', () => {
    const run = new SimulatedRun(simulated.local, started);
    run.run(20);
    const model = modelOf(run.full());
    const before = model.steps.step.length;
    expect(model.takeNewSteps()).toBe(0);
    run.run(5);
    model.apply(run.update());
    expect(model.takeNewSteps()).toBe(before);
    expect(model.takeNewSteps()).toBe(model.steps.step.length);
  });

  it('gives a copy that later updates do not touch', () => {
    const run = new SimulatedRun(simulated.cluster, started);
    run.run(30);
    const model = modelOf(run.full());
    const frozen = model.frozen();
    const before = structuredClone(shown(frozen));
    run.run(30);
    model.apply(run.update());
    expect(shown(frozen)).toEqual(before);
    expect(shown(model)).not.toEqual(before);
  });
});
