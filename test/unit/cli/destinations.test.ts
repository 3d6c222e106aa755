// Where an export goes to, by flags, by one word of --export, and by the environment.
import { expect, it } from 'vitest';
import { parseVerb } from '../../../src/cli/args.js';
import { destinationIn, destinationOf } from '../../../src/cli/destinations.js';
import { exportVerb } from '../../../src/cli/verbs/export.js';

const by = (...flags: string[]) => destinationOf(parseVerb(exportVerb, ['last', ...flags]), '/here', {});
const env = { MLFLOW_TRACKING_URI: 'http://m:5000/', WANDB_DIR: '/w', WANDB_PROJECT: 'flowers' };

it('takes the place, else that of the environment, else this folder', () => {
  expect(by('--to', 'csv')).toEqual({ to: 'csv', path: '/here' });
  expect(by('--to', 'json', '--out', 'a/b.json')).toEqual({ to: 'json', path: '/here/a/b.json' });
  expect(by('--to', 'wandb')).toEqual({ to: 'wandb', folder: '/here', project: 'trainyard', entity: '' });
  expect(destinationIn('wandb', '/here', env)).toMatchObject({ folder: '/w', project: 'flowers' });
  expect(destinationIn('wandb=x', '/here', env)).toMatchObject({ folder: '/here/x' });
  expect(destinationIn('csv=a=b.csv', '/here', env)).toEqual({ to: 'csv', path: '/here/a=b.csv' });
  const there = destinationIn('mlflow', '/here', env);
  expect(there.to === 'mlflow' && there.uri.href).toBe('http://m:5000/');
  const other = destinationIn('mlflow=http://n:1?a=b', '/here', env);
  expect(other).toMatchObject({ experiment: 'trainyard' });
  expect(other.to === 'mlflow' && other.uri.host).toBe('n:1');
});

it.each([
  [[], /--to is missing/],
  [['--to', 'tsv'], /no tracker "tsv"\. Write --to mlflow, --to wandb, --to csv, --to json/],
  [['--to', 'mlflow'], /nothing says where MLflow is/],
  [['--to', 'mlflow', '--dir', 'x'], /--dir does not go with --to mlflow\. Name the server with --uri/],
  [['--to', 'csv', '--uri', 'http://m'], /--uri does not go with --to csv\. Name a file with --out/],
  [['--to', 'csv', '--experiment', 'x'], /--experiment does not go with --to csv/],
  [['--to', 'csv', '--checkpoints', 'all'], /Get one with trainyard download/],
  [['--to', 'wandb', '--out', 'x'], /--out does not go with --to wandb\. Name a folder with --dir/],
])('refuses %j', (flags, message) => {
  expect(() => by(...flags)).toThrow(message);
});

it.each(['tsv=x', 'csv=', '', 'mlflow=ftp://x', 'mlflow=http://ada:hush@m'])(
  'refuses --export %j',
  (text) => {
    expect(() => destinationIn(text, '/here', {})).toThrow();
    try {
      destinationIn(text, '/here', {});
    } catch (error) {
      expect(error).toMatchObject({ code: 'usage' });
      expect(String(error)).not.toContain('hush');
    }
  },
);
