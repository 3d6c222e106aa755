// What a tracker is given: names, steps that a restart repeated, and the login from netrc.
import { expect, it } from 'vitest';
import { netrcEntry } from '../../../../src/core/export/mlflow/credentials.js';
import {
  hasLogin,
  isLoginRefused,
  LoginRefused,
  parseLogin,
} from '../../../../src/core/export/mlflow/login.js';
import { Names, trackerName } from '../../../../src/core/export/names.js';
import { ExportSeries } from '../../../../src/core/export/series.js';

it('names that every tracker takes, one for each text', () => {
  expect(trackerName('/a//b:c/../é/')).toBe('a/b_c/__/_');
  expect(trackerName('x'.repeat(300))).toHaveLength(250);
  expect(trackerName('')).toBe('_');
  const names = new Names();
  expect([names.of('a:b'), names.of('a?b'), names.of('a:b')]).toEqual(['a_b', 'a_b_2', 'a_b']);
});

it('a point that the tracker has and that goes is to be asked for again', () => {
  const series = new ExportSeries();
  for (const step of [10, 20, 30]) series.put({ step, time: step, value: step });
  const has = (...steps: number[]): boolean => series.match(new Map(steps.map((step) => [step, step])));
  expect(has(10, 20)).toBe(true);
  expect(series.unsent.map(({ step }) => step)).toEqual([30]);
  series.cut(20);
  expect(series.isMatched).toBe(true);
  series.cut(10);
  expect(series.isMatched).toBe(false);
  expect(has(10, 20)).toBe(false);
  expect(has(10)).toBe(true);
  series.put({ step: 10, time: 1, value: 1 });
  expect(series.isMatched).toBe(false);
  expect(has(10)).toBe(false);
  const samples = new ExportSeries(true);
  samples.put({ step: 10, time: 1, value: 1 });
  samples.put({ step: 10, time: 2, value: 2 });
  expect(samples.points).toEqual([{ step: 10, time: 1, value: 1 }]);
});

it('a point of an earlier step than those that the tracker has is sent alone', () => {
  const series = new ExportSeries();
  series.put({ step: 800, time: 1, value: 0.5 });
  series.matchAll();
  series.put({ step: 400, time: 2, value: 0.25 });
  expect(series.isMatched).toBe(true);
  expect(series.unsent).toEqual([{ step: 400, time: 2, value: 0.25 }]);
  series.forget();
  expect(series.match(new Map([[800, 0.5]]))).toBe(true);
  expect(series.unsent.map(({ step }) => step)).toEqual([400]);
});

it('netrc: the host, else default; never the entry of another host', () => {
  const text = '# mine\nmachine a login ada password one\nmachine b\n login bob password two\n';
  expect(netrcEntry(text, 'b')).toEqual({ login: 'bob', password: 'two' });
  expect(netrcEntry(text, 'c')).toBeUndefined();
  expect(netrcEntry(`${text}default login any password three`, 'c')?.password).toBe('three');
  expect(netrcEntry('machine a login ada', 'a')).toBeUndefined();
});

it('a login: said by the environment whole, or kept as it was; damaged, it is none', () => {
  const [user, password] = ['MLFLOW_TRACKING_USERNAME', 'MLFLOW_TRACKING_PASSWORD'];
  expect(hasLogin({ [user]: 'ada', [password]: '' })).toBe(true);
  expect(hasLogin({ MLFLOW_TRACKING_TOKEN: 't' })).toBe(true);
  expect([{}, { [user]: 'ada' }, { MLFLOW_TRACKING_TOKEN: '' }].map(hasLogin)).toEqual([false, false, false]);
  const kept = { [user]: 'ada', [password]: 'one' };
  expect(parseLogin(JSON.stringify(kept))).toEqual(kept);
  expect([undefined, '{', '{}', '{"MLFLOW_TRACKING_TOKEN":1}'].map(parseLogin)).toEqual(
    Array<undefined>(4).fill(undefined),
  );
  expect(isLoginRefused(new LoginRefused('no'))).toBe(true);
  expect(isLoginRefused(new Error('no'))).toBe(false);
});
