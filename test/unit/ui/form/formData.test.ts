// The data field of the run form, at a real folder of this machine.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UserError } from '../../../../src/core/base/errors.js';
import { dataOfForm } from '../../../../src/core/cluster/formData.js';
import { LocalMachine } from '../../../../src/core/cluster/localMachine.js';
import { emptyForm } from '../../../../src/core/plan/form/runForm.js';
import { FormData } from '../../../../src/ui/form/formData.js';
import { formWords } from '../../../../src/ui/form/formWords.js';

const folder = mkdtempSync(join(tmpdir(), 'form-'));
const machine = new LocalMachine({ bundleDir: folder });
let heard = 0;
let data: FormData;
beforeEach(() => {
  heard = 0;
  const onNews = (): void => {
    heard++;
  };
  data = new FormData(onNews, (error) => {
    throw error;
  });
});
afterEach(() => {
  data.dispose();
});

const values = (path: string): ReturnType<typeof emptyForm> => ({ ...emptyForm('local'), data: path });
const watch = (path: string): void => {
  data.watch(machine, dataOfForm(values(path), { name: 'local', kind: 'local' }, '/'));
};
const answered = (times: number): Promise<void> =>
  expect.poll(() => heard, { timeout: 5000 }).toBeGreaterThanOrEqual(times);

it('says what is missing once, of the last of what was typed', async () => {
  const path = join(folder, 'images');
  for (const typed of ['/i', '/im', path]) watch(typed);
  expect(data.isLooking).toBe(true);
  expect(data.problems(values(path))).toEqual({});
  await answered(1);
  expect(data.isLooking).toBe(false);
  expect(data.problems(values(path))['data']).toMatch(/ has no .*\/images$/);
  expect(heard).toBe(1);
  mkdirSync(path);
  data.lookAgain();
  await answered(2);
  expect(data.problems(values(path))).toEqual({});
});

it('keeps what a start said until the text changes, and speaks of no command line', () => {
  const hint = { kind: 'correctData', flag: 'eval-data', profile: 'lab' } as const;
  const error = new UserError('preflight', 'gpu1: eval-data: /v does not exist', hint);
  const form = { ...values('/i'), evalData: '/v' };
  expect(data.refuse(new UserError('usage', 'other', 'Do it'), form)).toBe(false);
  expect(data.refuse(error, form)).toBe(true);
  const said = 'gpu1: eval-data: /v does not exist. Correct the path here, or upload the folder.';
  expect(data.problems(form)).toEqual({ evalData: said });
  expect(data.problems({ ...form, evalData: '/w' })).toEqual({});
  const cpu = new UserError('preflight', 'no GPU', { kind: 'useCpu', or: 'otherGpus' });
  expect(formWords(cpu)).toBe('no GPU. Choose the device cpu, or wait, or name other "gpus" in the profile.');
});
