import { expect, it } from 'vitest';
import { parseVerb } from '../../../src/cli/args.js';
import type { Context } from '../../../src/cli/context.js';
import { killLeftovers, stillAlive } from '../../../src/cli/verbs/cluster/leftovers.js';
import { UserError } from '../../../src/core/base/errors.js';

it('clean says what ends a run that is supervised, and what ends one that is not', () => {
  const dir = '/home/ada/.trainyard/runs/20261121-104500-mlp-1f2e';
  const what = `on gpu1 processes of ${dir} are alive`;
  expect(stillAlive('gpu1', { dir, supervised: true }, 'lab')).toMatchObject({
    what,
    hint: 'Stop the run: trainyard stop 20261121-104500-mlp-1f2e --profile lab',
  });
  expect(stillAlive('gpu1', { dir, supervised: false }, 'lab')).toMatchObject({
    what,
    hint: 'End them: trainyard kill-leftovers lab',
  });
});

it('kill-leftovers tells of every host that answers, and names one that does not', async () => {
  const one = { pid: 7, what: 'python' };
  const answers = { gpu1: { killed: [one], left: [] }, gpu3: { killed: [], left: [one] } };
  const node = (name: string, answer?: object): object => ({
    name,
    node: {
      client: () =>
        answer === undefined
          ? Promise.reject(new UserError('connection', 'it gives no answer', ''))
          : Promise.resolve({ request: () => Promise.resolve(answer) }),
    },
  });
  const kill = async (nodes: object[]): Promise<[number, string[]]> => {
    const said: string[] = [];
    const say = (text: string): void => {
      said.push(text);
    };
    const context = {
      ...{ json: false, output: { line: say, note: say }, machine: { nodes } },
      profile: () => Promise.resolve({ name: 'lab', kind: 'ssh' }),
    } as unknown as Context;
    return [await killLeftovers.run(context, parseVerb(killLeftovers, ['lab'])), said];
  };
  const [first, dead] = [node('gpu1', answers.gpu1), node('gpu2')];
  expect(await kill([first, dead])).toEqual([
    3,
    ['gpu1: killed 7 (python)', expect.stringContaining('gpu2: it gives no answer')],
  ]);
  expect((await kill([first, dead, node('gpu3', answers.gpu3)]))[0]).toBe(5);
});
