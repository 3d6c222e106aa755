import { describe, expect, it } from 'vitest';
import type { ComparedRun } from '../../../../src/core/compare/comparedRun.js';
import { compareRuns, valueText } from '../../../../src/core/compare/comparison.js';
import { secondsPerEpoch } from '../../../../src/core/compare/epochTimes.js';
import { csvOf, markdownOf, recordsOf } from '../../../../src/core/compare/exports.js';
import { differencesOf, settingsOf } from '../../../../src/core/compare/settings.js';
import { Figures } from '../../../../src/core/model/series/figures.js';
import { comparisonLines, withDefaults } from '../../../../src/cli/comparisonTable.js';
import { evalLine, startLine, stepLine } from '../../support/lines.js';
import { compared, madeEntry, runStart, trainingLines } from '../../support/madeRuns.js';

const price = { per: 'node', amount: 36, currency: 'EUR' } as const; // 0.01 EUR a second
const small = { images: 1000, batch: 100, epochs: 4, firstEpoch: 50, laterEpochs: 20, top1: 0.6 };

describe('the time of an epoch', () => {
  it('is the median without the first', () => {
    expect(secondsPerEpoch([0.5, 1, 2, 3, 4], [50, 100, 110, 125, 136])).toBe(11);
  });
  it('lies between rows that end elsewhere', () => {
    // Epoch 1 ends at 10 s, 2 at 20 s, 3 at 30 s.
    expect(secondsPerEpoch([0.5, 1.5, 2.5, 3.5], [5, 15, 25, 35])).toBeCloseTo(10, 9);
    expect(secondsPerEpoch([0.5, 3.5], [5, 35])).toBeCloseTo(10, 9);
  });
  it('is unknown before two epochs were made', () => {
    expect(secondsPerEpoch([0.5, 1, 1.9], [5, 10, 19])).toBeUndefined();
    expect(secondsPerEpoch([], [])).toBeUndefined();
  });
});

describe('settings', () => {
  const { run } = madeEntry({
    id: 'a',
    argv: ['train', '--model', 'mlp', '--lr=-0.1', '--augment', '--run-dir', '/w/r'],
    seconds: 1,
    env: { WANDB_API_KEY: 'abc', OMP: '2' },
  });
  it('are the flags, what the run made of them, and no secrets', () => {
    const settings = settingsOf(run, startLine({ model: 'mlp', precision: 'bf16' }));
    expect(settings).toMatchObject({ model: 'mlp', lr: '-0.1', augment: 'yes', precision: 'bf16' });
    expect(settings).toMatchObject({ $WANDB_API_KEY: 'set', $OMP: '2', verb: 'train' });
    expect(settings).not.toHaveProperty('run-dir');
  });
  it('differ also where one run lacks them', () => {
    const of = (
      settings: Record<string, string>,
      profile = 'local',
    ): Pick<ComparedRun, 'settings' | 'profile'> => ({
      profile,
      settings,
    });
    expect(differencesOf([of({ a: '1', b: '2' }), of({ a: '1' })])).toEqual([
      { name: 'b', values: ['2', null] },
    ]);
    expect(differencesOf([of({}), of({}, 'lab')])).toEqual([{ name: 'profile', values: ['local', 'lab'] }]);
  });
});

describe('figures', () => {
  it('are empty where nobody knows, never zero', () => {
    const bare = compared({ ...madeEntry({ id: 'bare', seconds: 5 }), state: null, run: null }, []);
    expect(new Set(Object.values(bare.figures))).toEqual(new Set([null]));
    const full = compared(madeEntry({ id: 'full', seconds: 120, price }), trainingLines(small));
    const { columns } = compareRuns([bare, full]);
    expect(columns.map(({ key }) => key)).toContain('best_loss');
    for (const { values, texts } of columns) {
      expect(values[0]).toBeNull();
      expect(texts[0]).toBe('');
      expect(texts[1]).not.toBe('');
    }
  });

  it('leave out columns that nobody has', () => {
    const own = compared(madeEntry({ id: 'own', program: 'command', argv: ['sleep', '1'], seconds: 1 }), []);
    expect(compareRuns([own, own]).columns.map(({ key }) => key)).toEqual([
      'seconds',
      'restarts',
      'seconds_lost',
    ]);
  });

  it('say what restarts cost', () => {
    // The checkpoint of step 50 was written at 60 s; the second generation trains from 100 s on: 40
    // s are lost. The third goes on from the same checkpoint and trains from 150 s on: 90 s more.
    // 130 s at 0.01 EUR are 1.30 EUR.
    const checkpoint = {
      kind: 'checkpoint',
      generation: 1,
      step: 50,
      path: '/c',
      bytes: 1,
      write_ms: 1,
    } as const;
    const again = { resumed_from: '/c/step-00000050' };
    const lines = [
      startLine({ time: runStart }),
      stepLine(50, { time: runStart + 59 }),
      { ...checkpoint, time: runStart + 60 },
      stepLine(70, { time: runStart + 80 }),
      startLine({ time: runStart + 100, generation: 2, ...again }),
      stepLine(60, { time: runStart + 110, generation: 2 }),
      startLine({ time: runStart + 150, generation: 3, ...again }),
      stepLine(60, { time: runStart + 160, generation: 3 }),
    ];
    const { figures } = compared(madeEntry({ id: 'r', seconds: 200, price, generation: 3 }), lines);
    expect(figures).toMatchObject({ restarts: 2, secondsLost: 130, cost: 2 });
    expect(figures.costLost).toBeCloseTo(1.3, 9);
    // Steps of 0.1 s: 70, and 10 of each later generation are 9 s. The other 191 s of 200 had none.
    expect(figures.secondsIdle).toBeCloseTo(191, 9);
    expect(figures.costIdle).toBeCloseTo(1.91, 9);
    // Of a program that tells no steps the number is known, and the cost is not.
    const own = compared(madeEntry({ id: 'own', seconds: 200, price, generation: 3 }), []);
    expect(own.figures).toMatchObject({ restarts: 2, secondsLost: null, costLost: null, secondsIdle: null });
  });

  it('tell what an own program reported', () => {
    const figures = new Figures();
    const line = { generation: 1, writer: '', source: 'x', tag: 'val/mIoU' };
    [0.9, 0.2, 0.4].forEach((value, step) => {
      figures.add({ ...line, step, value, time: runStart + step });
    });
    const own = compared(madeEntry({ id: 'own', seconds: 9 }), [], figures);
    expect(own.own).toEqual([{ writer: '', tag: 'val/mIoU', last: 0.4, min: 0.2, max: 0.9 }]);
    const [curve] = own.curves;
    expect(curve).toMatchObject({ name: 'val/mIoU', step: [0, 1, 2], value: [0.9, 0.2, 0.4] });
    expect(curve?.hours[2]).toBeCloseTo(2 / 3600, 9);
    const comparison = compareRuns([own, own]);
    expect(comparison.columns.at(-1)).toMatchObject({ title: 'val/mIoU', texts: ['0.4', '0.4'] });
    const [head] = csvOf(comparison).split('\r\n');
    expect(head?.endsWith(',last.val/mIoU,min.val/mIoU,max.val/mIoU')).toBe(true);
    expect(recordsOf(comparison)[0]).toMatchObject({ own: own.own, type: 'compared' });
  });

  it('say of how many writers the images/s of an own program are the sum', () => {
    const of = (writers: readonly string[]): ComparedRun => {
      const figures = new Figures();
      for (const writer of writers) {
        for (const step of [1, 2, 3]) {
          const line = { generation: 1, writer, source: writer, tag: 'images_per_sec' };
          figures.add({ ...line, step, value: 100, time: runStart + step });
        }
      }
      return compared(madeEntry({ id: 'own', program: 'command', seconds: 9 }), [], figures);
    };
    const [alone, both] = [of(['a']), of(['a', 'b'])];
    expect(alone.figures).toMatchObject({ imagesPerSec: 100, rateWriters: null });
    expect(both.figures).toMatchObject({ imagesPerSec: 200, rateWriters: 2 });
    const columns = compareRuns([alone, both]).columns;
    const column = columns.find(({ key }) => key === 'images_per_sec_writers');
    expect(column).toMatchObject({ title: 'sum of writers', texts: ['', '2'], better: null });
    expect(compareRuns([alone]).columns.map(({ title }) => title)).not.toContain('sum of writers');
  });

  it('follow the evaluations that stand, with top-5 and loss', () => {
    const lines = [
      startLine({ time: runStart }),
      stepLine(25, { time: runStart + 10 }),
      stepLine(50, { time: runStart + 20 }),
      evalLine(25, 0.5, { top5: 0.9, loss: 0.7 }),
      evalLine(50, 0.4, { top5: 0.8, loss: 0.6 }),
    ];
    const run = compared(madeEntry({ id: 'e', seconds: 100 }), lines);
    expect(run.figures).toMatchObject({ top1: 0.4, bestTop1: 0.5, top5: 0.8, bestTop5: 0.9 });
    expect(run.figures).toMatchObject({ evalLoss: 0.6, bestEvalLoss: 0.6 });
    expect(run.evaluations.map(({ epoch }) => epoch)).toEqual([1, 2]);
    expect(run.evaluations.map(({ hours }) => Math.round(hours * 3600))).toEqual([10, 20]);
  });
});

it('keeps curves short, with the last point', () => {
  const steps = Array.from({ length: 1501 }, (_, at) => stepLine(at + 1, { time: runStart + at }));
  const { curves } = compared(madeEntry({ id: 'long', seconds: 2000 }), [startLine(), ...steps]);
  expect(curves[0]?.step.length).toBeLessThanOrEqual(401);
  expect(curves[0]?.step.at(-1)).toBe(1501);
});

describe('tables', () => {
  const noted = madeEntry({ id: 'one', argv: ['train', '--note', 'a|b, "c"'], seconds: 120 });
  const one = compared(noted, trainingLines(small));
  const two = compared(madeEntry({ id: 'two', argv: ['train'], seconds: 90 }), []);
  const comparison = compareRuns([one, two]);

  it('stand upright where that fits, else lie', () => {
    const upright = comparisonLines(comparison, 100);
    expect(upright[0]).toMatch(/^FIGURE +one +two$/);
    expect(upright).toContainEqual(expect.stringMatching(/^total time +2 min 0 s +90\.0 s$/));
    expect(upright).toContainEqual(expect.stringMatching(/^note +a\|b, "c"$/));
    const lying = comparisonLines(comparison, 20);
    expect(lying[0]).toMatch(/^RUN +STATUS +SETTING\.NOTE /);
    expect(lying).toHaveLength(3);
  });

  it('shorten the middle of a long path', () => {
    const path = `/data/${'x'.repeat(300)}/weights.safetensors`;
    const long = compared(madeEntry({ id: 'one', argv: ['train', '--init-weights', path], seconds: 90 }), []);
    const lines = comparisonLines(compareRuns([long, two]), 100);
    expect(lines).toContainEqual(expect.stringMatching(/^init-weights +\/data\/x+…x+\/weights\.safetensors/));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it('print the default of a flag that one of the runs left out, where the trainer is the same', () => {
    const given = compared(
      madeEntry({ id: 'one', argv: ['train', '--momentum', '0.8', '--fast'], seconds: 90 }),
      [],
    );
    const both = compareRuns([given, two]);
    const help = '  --momentum FLOAT:0..<1=0.9  of sgd and lars\n  --fast                      quick';
    const known = { hash: two.settings['trainer'] ?? '', help };
    const of = (name: string, trainer = known): unknown =>
      withDefaults(both, trainer).differences.find((one) => one.name === name)?.values;
    expect(of('momentum')).toEqual(['0.8', '0.9 (default)']);
    expect(of('fast')).toEqual(['yes', 'no (default)']);
    expect(of('momentum', { ...known, hash: 'other' })).toEqual(['0.8', null]);
  });

  it('print no default that another flag took the place of', () => {
    const [steps, epochs] = ['--steps', '--epochs'].map((flag) =>
      compared(madeEntry({ id: flag, argv: ['train', flag, '7'], seconds: 90 }), []),
    );
    const all = compareRuns([steps!, epochs!, two]);
    const help = '  --steps INT:0..=0      updates in all\n  --epochs INT:1..=10   of the data';
    const shown = withDefaults(all, { hash: two.settings['trainer'] ?? '', help }).differences;
    expect(shown.find(({ name }) => name === 'steps')?.values).toEqual(['7', '-', '-']);
    expect(shown.find(({ name }) => name === 'epochs')?.values).toEqual(['-', '7', '10 (default)']);
  });

  it('name every column once, whatever settings and own figures are called', () => {
    const tags = ['loss', 'run', 'epochs', 'setting.epochs', 'min.loss', 'best top-1', 'status'];
    const figures = new Figures();
    for (const tag of tags) {
      const line = { generation: 1, writer: '', source: 'x', tag, step: 1, value: 2, time: runStart + 1 };
      figures.add(line);
    }
    const argv = ['train', '--epochs', '4', '--status', 'x', '--loss', 'y'];
    const named = compared(madeEntry({ id: 'own', argv, seconds: 9 }), trainingLines(small), figures);
    const mixed = compareRuns([named, two]);
    const heads = [csvOf(mixed).split('\r\n')[0]?.split(','), markdownOf(mixed).split('\n')[0]?.split(' | ')];
    for (const head of heads) expect(new Set(head).size).toBe(head?.length);
    expect(heads[0]).toEqual(expect.arrayContaining(['setting.epochs', 'epochs', 'loss', 'last.loss']));
    const record = recordsOf(mixed)[0] as { figures: Record<string, unknown> };
    expect(record.figures['loss']).not.toBe(2); // the trainer's own
  });

  it('keep what would end a cell', () => {
    expect(csvOf(comparison)).toContain('"a|b, ""c"""');
    expect(markdownOf(comparison)).toContain('| a\\|b, "c" |');
  });

  it('write values as people read them', () => {
    expect(valueText('money', 0.004, 'USD')).toBe('0.004 USD');
    expect(valueText('money', 1, null)).toBe('');
    expect(valueText('count', 32_000, null)).toBe('32,000');
    expect(valueText('count', 12.44, null)).toBe('12.4');
    expect(valueText('number', 0.123456, null)).toBe('0.1235');
    expect(valueText('seconds', 99.96, null)).toBe('1 min 40 s');
    expect(valueText('rate', 11_204.4, null)).toBe('11,204');
  });
});
