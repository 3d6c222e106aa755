// A rank that waits for a debugger: which commands and ranks can, and what the run's record says.
import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { parseEvent } from '../../../../src/core/contracts/runSchema.js';
import { commandLineOf } from '../../../../src/core/plan/request/commandLine.js';
import { assertDebuggedRank } from '../../../../src/core/plan/request/debugWish.js';
import { requestOf, type RunRequest, type TypedRun } from '../../../../src/core/plan/request/request.js';
import { attachConfiguration, waitingAfter } from '../../../../src/core/tunnels/debugTunnel.js';

const local: Profile = { name: 'local', kind: 'local', silenceTimeout: 600 };
const asked = (command: string, more: Partial<TypedRun> = {}): RunRequest =>
  requestOf({ profile: local, words: command.split(' '), cwd: '/home/me', debug: 0, ...more });

it.each([
  ['python3 train.py --lr 1', { target: 1 }],
  ['/opt/venv/bin/python -u -X dev -Wignore train.py', { target: 5 }],
  ['python -m torch.distributed.run train.py', { target: 1 }],
  ['python -u -c print(1)', { target: 2 }],
  ['torchrun train.py', { target: 0, script: true }],
  ['env A=b /opt/venv/bin/torchrun train.py', { target: 2, script: true }],
  ['env A=b python train.py', { target: 3 }],
])('%s', (command, record) => {
  expect(asked(command)).toMatchObject({ debug: { rank: 0, ...record }, silenceTimeout: undefined });
});

it.each([
  ['sh train.sh', {}, /in Python alone, and "sh train.sh" starts none/],
  ['python3 -V', {}, /starts none/],
  ['python3 -m', {}, /starts none/],
  ['python3 -um train', {}, /-um is not understood/],
  ['train --model mlp --data synthetic', {}, /train is a verb of the trainer/],
  ['python3 train.py', { debug: 1 }, /has no rank 1: its only rank is 0/],
  ['python3 train.py', { debug: 2, ranks: 2 }, /has no rank 2: its ranks are 0 to 1/],
  ['python3 train.py', { silenceTimeout: 60 }, /a limit of silence would end it/],
])('refuses %s with %o', (command, more, text) => {
  expect(() => asked(command, more)).toThrow(text);
});

it('looks at the rank once more where the slots say how many there are', () => {
  const request = asked('python3 train.py', { debug: 4, per: 'slot' });
  expect(() => {
    assertDebuggedRank(request, 4);
  }).toThrow(/its ranks are 0 to 3/);
  assertDebuggedRank(request, 5);
});

it('is in the command line for people', () => {
  const run = { profile: 'lab', words: ['python3', 'x.py'], debug: 1 };
  expect(commandLineOf(run)).toBe('trainyard run lab --debug 1 -- python3 x.py');
});

describe('what can be attached to', () => {
  const event = (kind: string, fields: object): ReturnType<typeof parseEvent> =>
    parseEvent({ time: 1, generation: 1, kind, ...fields });
  const waits = event('debugger_waiting', { rank: 1, host: 'b', port: 4000, folder: '/r/code' });
  const ended = (rank: number): ReturnType<typeof parseEvent> =>
    event('rank_exited', { rank, host: 'b', pid: 1, exit_code: 0, signal: null, last_step: 0 });

  it('is the rank until it ends, or until the run starts anew', () => {
    expect(waitingAfter([waits, ended(0)])).toBe(waits);
    expect(waitingAfter([waits, ended(1)])).toBeUndefined();
    expect(waitingAfter([waits, event('started', { world: 2, argv: [] })])).toBeUndefined();
    expect(waitingAfter([])).toBeUndefined();
  });

  it('has the local code folder in place of that of the node', () => {
    const code = { snapshot: 'a', folder: '/home/me/proj', files: 1, bytes: 1, commit: null, changed: null };
    expect(attachConfiguration({ id: 'x', code }, { rank: 1, folder: '/r/code' }, 5678)).toEqual({
      name: 'Rank 1 of x',
      type: 'debugpy',
      request: 'attach',
      connect: { host: '127.0.0.1', port: 5678 },
      pathMappings: [{ localRoot: '/home/me/proj', remoteRoot: '/r/code' }],
    });
  });
});
