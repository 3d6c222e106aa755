// Presets: what their file may say, where a mistake in it stands, and the run that one asks for.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseVerb } from '../../../../src/cli/args.js';
import { errorWords } from '../../../../src/cli/remedies.js';
import { typedRun } from '../../../../src/cli/typedRun.js';
import { run } from '../../../../src/cli/verbs/run.js';
import { presetsJsonSchema, type Preset } from '../../../../src/core/contracts/presetSchema.js';
import { WorkspaceFile } from '../../../../src/core/presets/workspaceFile.js';
import { presetRun } from '../../../../src/core/presets/presetRun.js';

let folder: string;
let file: WorkspaceFile;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ty-presets-'));
  file = WorkspaceFile.in(folder);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const write = (text: string): void => {
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  writeFileSync(file.path, text);
};
const refusal = async (presets: string): Promise<string> => {
  write(`{\n  "version": 1,\n  "presets": [\n    ${presets}\n  ]\n}\n`);
  const error: unknown = await file.presets().catch((caught: unknown) => caught);
  return errorWords(error).replace(file.path, 'FILE');
};
const night: Preset = { name: 'night', profile: 'lab', command: 'train --model resnet50', ranks: 4 };

describe('the file', () => {
  it('may be missing, and has comments and trailing commas', async () => {
    expect(await file.presets()).toEqual([]);
    write(`{ // ours\n "$schema": "x", "version": 1, "presets": [${JSON.stringify(night)},], }`);
    expect(await file.presets()).toEqual([night]);
  });

  it.each([
    [
      '{"name": "a", "command": "ls", "rank": 2}',
      'FILE:4: presets[0]: Unrecognized key: "rank" (did you mean "ranks"?)',
    ],
    ['{"name": "a"}', 'FILE:4: presets[0].command: Invalid input: expected string, received undefined'],
    [
      '{"name": "a",\n "command": "ls",\n "ranks": 0}',
      'FILE:6: presets[0].ranks: Too small: expected number to be >=1',
    ],
    [
      '{"name": "a", "command": "ls"},\n {"name": "a", "command": "ls"}',
      'FILE:5: presets[1].name: "a" stands there twice',
    ],
    [
      '{"name": "a", "command": "ls",\n "code": ".", "cwd": "."}',
      'FILE:5: presets[0].cwd: cannot stand beside "code", in which the program starts',
    ],
    [
      '{"name": "a", "command": "ls",\n "hosts": ["gpu1"],\n "nodes": 2}',
      'FILE:6: presets[0].nodes: cannot stand beside "hosts", which are all that the run takes',
    ],
    ['{"name": "a" "command": "ls"}', 'FILE:4: comma expected'],
  ])('%s', async (presets, expected) => {
    expect(await refusal(presets)).toBe(`${expected}. Correct that file; nothing was changed in it.`);
  });

  it('is made where it is missing, keeps its comments, and has each name once', async () => {
    await file.savePreset(night);
    await file.savePreset({ name: 'day', command: 'make' });
    writeFileSync(file.path, readFileSync(file.path, 'utf8').replace('{', '{ // keep me'));
    await file.savePreset({ ...night, ranks: 8 });
    expect(await file.presets()).toEqual([
      { ...night, ranks: 8 },
      { name: 'day', command: 'make' },
    ]);
    expect(readFileSync(file.path, 'utf8')).toMatch(/^\{ \/\/ keep me\n/);
  });

  it('stays readable for others, and a link stays one', async () => {
    const modeOf = (path: string): number => statSync(path).mode & 0o777;
    await file.savePreset(night);
    writeFileSync(`${file.path}.plain`, ''); // as this user's files are
    expect(modeOf(file.path) & 0o044).toBe(modeOf(`${file.path}.plain`) & 0o044);
    const elsewhere = `${file.path}.elsewhere`;
    renameSync(file.path, elsewhere);
    symlinkSync(elsewhere, file.path);
    for (const mode of [0o664, 0o640]) {
      chmodSync(elsewhere, mode);
      await file.savePreset({ ...night, ranks: mode });
      expect(modeOf(elsewhere)).toBe(mode);
    }
    expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
    expect(await file.presets()).toEqual([{ ...night, ranks: 0o640 }]);
  });

  it('that is wrong is not written, and no wrong preset is', async () => {
    write('{"version": 1, "presets": [{}]}');
    await expect(file.savePreset(night)).rejects.toThrow(':1: presets[0]');
    expect(readFileSync(file.path, 'utf8')).toBe('{"version": 1, "presets": [{}]}');
    await expect(file.savePreset({ ...night, name: '' })).rejects.toThrow(
      'this cannot be a preset: name: must be',
    );
  });

  it('names the presets that there are', async () => {
    await expect(file.preset('x')).rejects.toThrow('has no preset named x');
    await file.savePreset(night);
    expect(await file.preset('night')).toEqual(night);
    const error: unknown = await file.preset('nite').catch((caught: unknown) => caught);
    expect(errorWords(error)).toMatch(/has no preset named nite\. Choose one of: night\.$/);
  });

  it('has a JSON schema, and the one in media/ is current', () => {
    const path = join(import.meta.dirname, '../../../../media/presets.schema.json');
    expect(JSON.parse(readFileSync(path, 'utf8')), 'run npm run schema').toEqual(presetsJsonSchema());
  });

  interface OfPreset {
    properties: object;
    dependencies: object;
  }
  /** What editors know of one preset. */
  const presetInEditors = (): OfPreset => {
    const text = JSON.stringify(presetsJsonSchema());
    return (JSON.parse(text) as { properties: { presets: { items: OfPreset } } }).properties.presets.items;
  };

  it('tells editors which fields cannot stand beside each other', () => {
    const errorMessage = expect.stringMatching(/^cannot stand beside/) as unknown;
    expect(presetInEditors().dependencies).toEqual({
      hosts: { properties: { nodes: false }, errorMessage },
      code: { properties: { cwd: false }, errorMessage },
    });
  });

  it('has no field that the contract does not name', () => {
    const contract = readFileSync(join(import.meta.dirname, '../../../../docs/contracts/presets.md'), 'utf8');
    const { properties } = presetInEditors();
    for (const field of Object.keys(properties)) expect(contract).toContain(`\n| \`${field}\` |`);
  });
});

describe('a preset as a run', () => {
  const full: Preset = {
    ...{ name: 'p', command: 'python train.py "two words"', ranks: 2, nodes: 2, per: 'slot', gpus: 1 },
    ...{ wait: true, tensorboard: true, evaluator: false, runName: 'birds', tags: ['a'], notes: 'n' },
    ...{ cwd: 'src', logdir: 'logs', stage: '/shared:/scratch', timeLimit: '2h' },
    ...{ silenceTimeout: '10m', share: 'checkpoints' },
  };

  it('has everything, and goes where it says or where it is asked for', () => {
    expect(presetRun(full, 'lab')).toEqual({
      ...{ profile: 'lab', words: ['python', 'train.py', 'two words'], ranks: 2, nodes: 2, per: 'slot' },
      ...{ gpus: '1', wait: true, tensorboard: true, evaluator: false, name: 'birds', tags: ['a'] },
      ...{ notes: 'n', cwd: 'src', logdir: 'logs' },
      timeLimit: 7200,
      ...{ silenceTimeout: 600, share: 'checkpoints' },
      stage: { host: undefined, from: '/shared', to: '/scratch' },
    });
    expect(presetRun(night, 'other').profile).toBe('lab');
    expect(() => presetRun({ ...full, timeLimit: '2' }, 'lab')).toThrow(
      '"timeLimit" of the preset p must be from 1s to 365d, not "2"',
    );
    expect(() => presetRun({ ...full, share: '../a' }, 'lab')).toThrow(
      '"share" of the preset p must not have',
    );
    expect(() => presetRun({ ...full, stage: '/a' }, 'lab')).toThrow('/a does not name two folders');
  });

  it('on the command line: flags go before what it says, and it has its own command', () => {
    const profile = { name: 'local', kind: 'local' } as const;
    const typed = (...words: string[]) =>
      typedRun(profile, '/w', parseVerb(run, ['local', '--preset', 'p', ...words]), presetRun(full, 'local'));
    expect(typed()).toMatchObject({ cwd: '/w/src', ranks: 2, evaluator: false, wait: true, name: 'birds' });
    expect(typed('--ranks', '3', '--name', 'x')).toMatchObject({ ranks: 3, name: 'x', per: 'slot' });
    expect(typed('--hosts', 'a,b')).toMatchObject({ hosts: ['a', 'b'] });
    expect(typed('--hosts', 'a,b')).not.toHaveProperty('nodes');
    expect(typed()).not.toHaveProperty('codeFolder');
    expect(() => typed('--', 'ls')).toThrow('a preset has a command of its own');
  });
});
