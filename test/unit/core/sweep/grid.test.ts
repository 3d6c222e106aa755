import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { axesOf, axisOf, valuesOf, valuesText } from '../../../../src/core/sweep/grid.js';

const failure = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as UserError).message;
  }
  throw new Error('it was accepted');
};

describe('axisOf', () => {
  it('takes values with commas between them, and dashes before the name', () => {
    expect(axisOf('lr=0.1, 0.01')).toEqual({ name: 'lr', values: ['0.1', '0.01'] });
    expect(axisOf('--batch-size=32')).toEqual({ name: 'batch-size', values: ['32'] });
    expect(axisOf('model=a=b,c')).toEqual({ name: 'model', values: ['a=b', 'c'] });
  });

  it('takes semicolons between values that have commas', () => {
    expect(axisOf('steps=30,60;60,90').values).toEqual(['30,60', '60,90']);
    expect(axisOf('steps=30,60;60,90').values).toHaveLength(2);
  });

  it('takes ranges', () => {
    expect(axisOf('lr=1e-4..0.1:log').range).toEqual({ low: 1e-4, high: 0.1, log: true, whole: false });
    expect(axisOf('n=1..10').range).toEqual({ low: 1, high: 10, log: false, whole: true });
    expect(axisOf('x=0.5..1.5').range).toEqual({ low: 0.5, high: 1.5, log: false, whole: false });
    expect(axisOf('folder=../a,../b').values).toEqual(['../a', '../b']);
  });

  it.each([
    ['lr', 'is no setting to try'],
    ['=1,2', 'is no setting to try'],
    ['lr=', 'a value of lr is empty'],
    ['lr=1,,2', 'a value of lr is empty'],
    ['lr=1,2,1', 'lr has the value 1 twice'],
    ['lr=2..1', 'the range of lr is empty'],
    ['lr=0..1:log', 'a logarithm needs more than 0'],
  ])('refuses %s', (text, said) => {
    expect(failure(() => axisOf(text))).toContain(said);
  });

  it('takes each name once, and one at least', () => {
    expect(failure(() => axesOf(['lr=1', 'lr=2']))).toContain('lr is given twice');
    expect(failure(() => axesOf([]))).toContain('nothing says which settings to try');
  });
});

describe('valuesOf', () => {
  const two = axesOf(['lr=0.1,0.01', 'batch-size=32,64']);

  it('makes every combination, the last setting changing fastest', () => {
    expect(valuesOf(two).map(valuesText)).toEqual([
      'lr=0.1, batch-size=32',
      'lr=0.1, batch-size=64',
      'lr=0.01, batch-size=32',
      'lr=0.01, batch-size=64',
    ]);
  });

  it('draws different ones, the same for the same seed', () => {
    const axes = axesOf(['lr=1e-4..0.1:log', 'n=1..3', 'kind=a,b']);
    const drawn = valuesOf(axes, { count: 20, seed: 7 });
    expect(drawn).toEqual(valuesOf(axes, { count: 20, seed: 7 }));
    expect(drawn).not.toEqual(valuesOf(axes, { count: 20, seed: 8 }));
    expect(new Set(drawn.map(valuesText)).size).toBe(20);
    for (const { lr, n, kind } of drawn) {
      expect(Number(lr)).toBeGreaterThanOrEqual(1e-4);
      expect(Number(lr)).toBeLessThanOrEqual(0.1);
      expect(['1', '2', '3']).toContain(n);
      expect(['a', 'b']).toContain(kind);
    }
    expect(drawn.filter(({ lr }) => Number(lr) < 10 ** -2.5).length).toBeGreaterThan(4);
  });

  it('draws no more than there are', () => {
    expect(valuesOf(two, { count: 3, seed: 1 })).toHaveLength(3);
    expect(valuesOf(two, { count: 9, seed: 1 })).toEqual(valuesOf(two));
    expect(valuesOf(axesOf(['n=1..3']), { count: 9, seed: 1 })).toHaveLength(3);
  });

  it('refuses a range without a number of trials, and too many', () => {
    expect(failure(() => valuesOf(axesOf(['lr=0..1'])))).toContain('lr is a range');
    const many = Array.from({ length: 40 }, (_, at) => at).join(',');
    expect(failure(() => valuesOf(axesOf([`a=${many}`, `b=${many}`])))).toContain(
      '1600 trials are more than',
    );
    expect(failure(() => valuesOf(axesOf(['a=0.1..1']), { count: 1001, seed: 1 }))).toContain('1001 trials');
  });
});
