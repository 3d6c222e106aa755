// The requirements file of an own program: how it is asked for, recorded and asked for again.
import { expect, it } from 'vitest';
import { check } from '../../../../src/core/base/validation.js';
import { settingsOf } from '../../../../src/core/compare/settings.js';
import { runFileSchema, type RunFile } from '../../../../src/core/contracts/runSchema.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';
import { keptWishes } from '../../../../src/core/plan/request/keptWishes.js';
import { typedOf } from '../../../../src/core/plan/request/recordedRun.js';
import { requestOf, type RunRequest, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { resumedRun, resumeCommand } from '../../../../src/core/plan/resume.js';
import { presetOf, presetRun } from '../../../../src/core/presets/presetRun.js';
import { parseVerb } from '../../../../src/cli/args.js';
import { typedRun } from '../../../../src/cli/typedRun.js';
import { run } from '../../../../src/cli/verbs/run.js';
import { madeEntry } from '../../support/madeRuns.js';

const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }] };
const own = ['python3', 'train.py'];
const asked = (more: Partial<TypedRun> = {}): RunRequest =>
  requestOf({ profile: lab, words: own, cwd: '/', ...more });
const environment = {
  path: '~/.trainyard/environments/0123456789abcdef-py3.12',
  requirements: '/p/requirements.txt',
  python: '3.12.4',
  options: ['--pre'],
  packages: ['tokenizers==0.22.1', 'pkg @ git+https://example.org/pkg@0123'],
};
const entry = madeEntry({ id: 'r1', argv: own, seconds: 10 });
const record: RunFile = { ...entry.run!, program: 'command', argv: own, environment };

it('is read from the command line against the folder of the command, and from a preset', () => {
  const typed = (...words: string[]): TypedRun =>
    typedRun(lab, '/p', parseVerb(run, ['lab', ...words, '--', ...own]));
  expect(typed('--requirements', 'r.txt').requirements).toBe('/p/r.txt');
  expect(typed()).not.toHaveProperty('requirements');
  const preset = presetRun({ name: 'p', command: 'python3 train.py', requirements: 'r.txt' }, 'lab');
  expect(presetOf('p', preset)).toMatchObject({ requirements: 'r.txt' });
  const words = parseVerb(run, ['lab', '--preset', 'p']);
  expect(typedRun(lab, '/p', words, preset).requirements).toBe('/p/r.txt');
  expect(commandLineOf({ profile: 'lab', words: own, requirements: '/p/r.txt' })).toBe(
    'trainyard run lab --requirements /p/r.txt -- python3 train.py',
  );
});

it('is for an own program alone', () => {
  expect(asked({ requirements: '/p/r.txt' })).toMatchObject({ requirements: '/p/r.txt' });
  const words = ['train', '--model', 'mlp', '--data', 'synthetic'];
  expect(() => asked({ words, requirements: '/p/r.txt' })).toThrow(
    'Python packages are put on the nodes for programs of your own, and train is a verb of the trainer',
  );
});

it('is read again for another run like one, while a resume has the packages of the record', () => {
  expect(check(runFileSchema, record).ok).toBe(true);
  expect(typedOf(record).requirements).toBe('/p/requirements.txt');
  expect(keptWishes(lab, typedOf(record))).toMatchObject({ requirements: '/p/requirements.txt' });
  const stopped = { ...entry, run: record, interrupted: true };
  expect(resumedRun(stopped, lab, '/')).not.toHaveProperty('requirements');
  expect(resumedRun(stopped, lab, '/', { requirements: '/p/new.txt' }).requirements).toBe('/p/new.txt');
  expect(resumeCommand(stopped, 'lab')).not.toContain('requirements');
});

it('makes each package a setting, whatever its name is', () => {
  expect(settingsOf(record, undefined)).toMatchObject({
    Python: '3.12.4',
    'package tokenizers': '0.22.1',
    'package pkg': 'git+https://example.org/pkg@0123',
  });
});
