import { describe, expect, it } from 'vitest';
import { check } from '../../../../src/core/base/validation.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import type { ComparedRun } from '../../../../src/core/compare/comparedRun.js';
import { metricOf, metricText, metricValue } from '../../../../src/core/sweep/metric.js';
import {
  sweepHtml,
  sweepMarkdown,
  sweepNotes,
  trialTable,
  verdictSentence,
} from '../../../../src/core/sweep/pages.js';
import {
  bestTrial,
  newTrial,
  ranked,
  sameSweep,
  sweepSchema,
  trialName,
  trialTags,
  withAgain,
  type Sweep,
  type Trial,
} from '../../../../src/core/sweep/record.js';
import { trialsAtOnce } from '../../../../src/core/sweep/room.js';

const trial = (number: number, change: Partial<Trial> = {}): Trial => ({
  ...newTrial({
    number,
    name: `lr-0${number}`,
    values: { lr: `0.${number}` },
    command: `trainyard run ${number}`,
  }),
  ...change,
});
const done = (best: number | null): Partial<Trial> => ({ status: 'finished', best, last: best, seconds: 61 });
const sweepOf = (trials: Trial[], goal: 'max' | 'min' = 'max'): Sweep => ({
  ...{ version: 1, name: 'lr', profile: 'local', created: 1, cwd: '/tmp', cancelled: false, trials },
  asked: { profile: 'local', flags: { grid: ['lr=0.1,0.2'] }, rest: ['train', '--data', 'synthetic'] },
  metric: { name: 'eval.top1', goal },
});

describe('names and tags', () => {
  it('have as many digits as the last trial', () => {
    expect([trialName('a', 3, 8), trialName('a', 3, 100)]).toEqual(['a-03', 'a-003']);
  });
  it('are the sweep and its values, short and without commas', () => {
    const tags = trialTags('sweep-local', { lr: '0.1', steps: '30,60', data: 'x'.repeat(60) });
    expect(tags).toEqual(['sweep-local', 'lr=0.1', 'steps=30;60', `data=${'x'.repeat(34)}…`]);
    expect(tags.every((tag) => Array.from(tag).length <= 40)).toBe(true);
  });
});

describe('the table', () => {
  const sweep = sweepOf([
    trial(1, done(0.5)),
    trial(2, { status: 'failed', why: 'it has no data' }),
    trial(3, { ...done(0.8), last: 0.7, cost: 0.5, currency: 'EUR' }),
    trial(4, done(null)),
    trial(5),
  ]);

  it('has the best first, and failures behind what has no value', () => {
    expect(ranked(sweep).map(({ number }) => number)).toEqual([3, 1, 4, 2, 5]);
    expect(ranked({ ...sweep, metric: { name: 'loss', goal: 'min' } }).map(({ number }) => number)).toEqual([
      1, 3, 4, 2, 5,
    ]);
    expect(bestTrial(sweep)?.number).toBe(3);
  });

  it('leaves out columns that no trial has', () => {
    const { head, rows } = trialTable(sweep);
    expect(head).toEqual(['trial', 'lr', 'status', 'best eval.top1', 'last', 'time', 'price', 'run', 'why']);
    expect(rows[0]).toEqual(['3', '0.3', 'finished', '80.0%', '70.0%', '1 min 1 s', '0.50 EUR', '', '']);
    expect(rows[3]?.at(-1)).toBe('it has no data');
  });

  it('is on the pages, with the command of the best', () => {
    expect(verdictSentence(sweep)).toBe(
      'Best: lr=0.3 (trial 3), with eval.top1 80.0%, 70.0% at its end. Trial 4 finished without eval.top1.',
    );
    expect(sweepNotes(sweep)).toContain('trial 2 (lr=0.2) failed: it has no data');
    expect(sweepNotes(sweep)).toContain('1 trial is still to come to an end.');
    expect(sweepMarkdown(sweep)).toContain('| 3 | 0.3 | finished |');
    expect(sweepHtml(sweep)).toContain('<pre>trainyard run 3</pre>');
  });

  it('says what was reported where nothing tells of the metric', () => {
    const none = sweepOf([trial(1, { ...done(null), reported: ['acc', 'loss'] })]);
    expect(verdictSentence(none)).toBe(
      'No trial reported eval.top1, so none is the best. They reported acc, loss.',
    );
    expect(verdictSentence(sweepOf([trial(1)]))).toBe('No trial has finished yet, so none is the best.');
  });
});

describe('a sweep that goes on', () => {
  const sweep = sweepOf([
    trial(1, done(0.5)),
    trial(2, { status: 'failed', why: 'x', run: { id: 'a', dir: nodePath('/a') } }),
  ]);

  it('is the same one where its command line is, in any order of flags', () => {
    const { asked } = sweep;
    const other = (change: Partial<Sweep['asked']>): Sweep => ({ ...sweep, asked: { ...asked, ...change } });
    const two = { name: ['b'], grid: ['lr=0.1,0.2'] };
    expect(sameSweep(sweep, { ...sweep, trials: [trial(1), trial(2)] })).toBe(true);
    expect(sameSweep(other({ flags: two }), other({ flags: { grid: two.grid, name: two.name } }))).toBe(true);
    expect(sameSweep(sweep, other({ rest: ['train'] }))).toBe(false);
    expect(sameSweep(sweep, { ...sweep, trials: [trial(1)] })).toBe(false);
  });

  it('tries anew what did not finish, where that is asked for', () => {
    const { trials } = withAgain(sweep);
    expect(trials).toEqual([sweep.trials[0], trial(2, { earlier: ['a'] })]);
    const failed = { ...trials[1]!, status: 'failed' as const, run: { id: 'b', dir: nodePath('/b') } };
    const [third] = withAgain({ ...sweep, trials: [failed] }).trials;
    expect(third).toEqual(trial(2, { earlier: ['a', 'b'] }));
    expect(withAgain({ ...sweep, trials: [third!] }).trials).toEqual([third]);
  });

  it('is in its file as it was', () => {
    expect(check(sweepSchema, JSON.parse(JSON.stringify(sweep)))).toMatchObject({ ok: true, data: sweep });
  });
});

describe('the metric', () => {
  const figures = { loss: 0.4, bestLoss: 0.3, top1: 0.7, bestTop1: 0.8 } as ComparedRun['figures'];
  const own = (...tags: string[]): ComparedRun['own'] =>
    tags.map((tag, at) => ({ writer: '', tag, last: at, min: at - 1, max: at + 1 }));
  const value = (name: string, goal: 'max' | 'min', of = own()) =>
    metricValue({ figures, own: of }, { name, goal });

  it('is that of evaluations where there are some, else the loss', () => {
    expect(metricOf(['train', '--eval-data', 'x'])).toEqual({ name: 'eval.top1', goal: 'max' });
    expect(metricOf(['train'])).toEqual({ name: 'loss', goal: 'min' });
    expect(metricOf(['python3', 'x'], 'val/acc')).toEqual({ name: 'val/acc', goal: 'max' });
    expect(metricOf(['python3', 'x'], 'val/error_rate').goal).toBe('min');
    expect(metricOf(['python3', 'x'], 'reward', 'min').goal).toBe('min');
  });

  it.each([
    [['train'], 'eval.top2', undefined, 'the trainer has no figure eval.top2. Did you mean eval.top1?'],
    [['train'], 'accuracy', undefined, 'It is one of: eval.top1,'],
    [['train'], 'eval.top1', undefined, 'eval.top1 needs evaluations'],
    [['x'], 'a', 'up', 'the goal must be max or min, not "up"'],
  ])('%s refuses %s %s', (words, name, goal, said) => {
    expect(() => metricOf(words, name, goal)).toThrow(said);
  });

  it('is read from what was reported, by the whole name or its end, else from our trainer', () => {
    expect(value('eval.top1', 'max')).toEqual({ last: 0.7, best: 0.8 });
    expect(value('loss', 'min')).toEqual({ last: 0.4, best: 0.3 });
    expect(value('val/acc', 'max', own('acc', 'val/acc'))).toEqual({ last: 1, best: 2 });
    expect(value('Val Acc', 'max', own('x', 'val_acc'))).toEqual({ last: 1, best: 2 });
    expect(value('acc', 'min', own('x', 'val/acc'))).toEqual({ last: 1, best: 0 });
    expect(value('loss', 'min', own('val/loss', 'train/loss'))).toEqual({ last: 1, best: 0 });
    expect(value('reward', 'max', own('acc'))).toEqual({ last: null, best: null });
  });

  it('is a percentage of an accuracy, else four digits', () => {
    expect([
      metricText('eval.top1', 0.5),
      metricText('a', 0.123456),
      metricText('a', 3),
      metricText('a', null),
    ]).toEqual(['50.0%', '0.1235', '3', '']);
  });
});

describe('trials at once, by GPUs', () => {
  const wish = (count: number) => ({ count, indices: undefined, text: String(count) });
  it('are as many as the node with the fewest has room for', () => {
    expect(trialsAtOnce([8, 4], wish(2), undefined)).toBe(2);
    expect(trialsAtOnce([8, 4], wish(2), 1)).toBe(4);
  });
  it('need a number of GPUs, and room for one trial', () => {
    expect(() => trialsAtOnce([8], undefined, undefined)).toThrow('nothing says how many GPUs a trial takes');
    expect(() => trialsAtOnce([1], wish(2), undefined)).toThrow('takes 2 GPUs of each node, and one has 1');
    expect(() => trialsAtOnce([], wish(2), undefined)).toThrow('one has 0');
  });
});
