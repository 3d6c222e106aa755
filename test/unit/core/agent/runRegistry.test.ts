import { describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { errorWords, UserError } from '../../../../src/core/base/errors.js';
import { AgentClient } from '../../../../src/core/agent/agentClient.js';
import { workdirOf } from '../../../../src/core/profiles/workdir.js';
import { matchRun, RunRegistry } from '../../../../src/core/agent/runRegistry.js';
import { isOver, statusOf } from '../../../../src/core/model/runStatus.js';
import { remedyText } from '../../../../src/cli/remedies.js';
import { FakeAgent } from '../../support/fakeAgent.js';

const ids = [
  '20261122-080000-resnet20-aaaa',
  '20261121-104500-resnet20-1f2e',
  '20261121-104501-mlp-77aa',
  '20261120-000000-birds-0000',
].map((id) => ({ id }));
const message = (text: string, entries = ids): string => {
  try {
    matchRun(text, entries);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ code: 'usage' });
    return errorWords(error, (remedy) => `do ${Object.values(remedy).join(' ')}`);
  }
  throw new Error(`${text} was found`);
};

describe('matchRun', () => {
  it.each([
    ['last', '20261122-080000-resnet20-aaaa'],
    ['20261121-104501-mlp-77aa', '20261121-104501-mlp-77aa'],
    ['20261120', '20261120-000000-birds-0000'],
    ['1f2e', '20261121-104500-resnet20-1f2e'],
    ['mlp', '20261121-104501-mlp-77aa'],
  ])('%s', (text, id) => {
    expect(matchRun(text, ids).id).toBe(id);
  });

  it('takes the name that somebody gave, before a part of an id', () => {
    const named = (id: string, name: string): (typeof entries)[number] => ({
      id,
      about: { name, tags: [], notes: '' },
    });
    const entries: { id: string; about?: { name: string; tags: string[]; notes: string } }[] = [
      { id: 'x-mlp-1' },
      named('y', 'mlp'),
      named('z', 'twice'),
      named('w', 'twice'),
    ];
    expect(matchRun('mlp', entries).id).toBe('y');
    expect(() => matchRun('twice', entries)).toThrow(/names 2 runs: z, w/);
  });

  it('prefers a prefix to a part', () => {
    const entries = [{ id: 'x-2026' }, { id: '2026-y' }];
    expect(matchRun('2026', entries).id).toBe('2026-y');
  });

  it('lists the candidates when there are several', () => {
    expect(message('20261121')).toMatch(
      /names 2 runs: 20261121-104500-resnet20-1f2e, 20261121-104501-mlp-77aa\. Write more/,
    );
    expect(
      message(
        '2026',
        Array.from({ length: 9 }, (_, index) => ({ id: `2026-${index}` })),
      ),
    ).toContain('and 4 more');
  });

  it('says what there is when there is none', () => {
    expect(message('vgg')).toBe('no run is named "vgg". do chooseRun 20261122-080000-resnet20-aaaa.');
    expect(message('last', [])).toBe('there are no runs yet. do startRun.');
    expect(message('x', [])).toBe('no run is named "x": there are no runs yet. do startRun.');
  });
});

describe('what a run may have meant', () => {
  const runs = [
    { id: '20261122-080000-first-aaaa', profile: 'lab' },
    { id: '20261121-080000-resnet20-bbbb', profile: 'lab', name: 'Baseline_v2 A' },
  ];
  const said = (text: string, profile: string, entries: Parameters<typeof matchRun>[1] = []): string => {
    try {
      matchRun(text, entries, { profile, runs });
    } catch (error) {
      return errorWords(error, remedyText);
    }
    throw new Error(`${text} was found`);
  };

  it('names the run of another profile whose name is near', () => {
    const meant = 'no run is named "fist". Did you mean 20261122-080000-first-aaaa of profile lab?';
    expect(said('fist', 'local')).toBe(meant);
    const named = 'Did you mean 20261121-080000-resnet20-bbbb of profile lab?';
    expect(said('Baseline_v2 B', 'local')).toBe(`no run is named "Baseline_v2 B". ${named}`);
    expect(said('20261122-080000-frist-aaaa', 'local')).toContain('Did you mean 20261122-080000-first-aaaa');
  });

  it('prefers the runs of the profile that was looked at, by the name that they have now', () => {
    const about = { name: 'fast', tags: [], notes: '' };
    expect(said('fasr', 'local', [{ id: 'r1', about }])).toBe('no run is named "fasr". Did you mean fast?');
  });

  it('says which profiles have runs, and how one is started on this one', () => {
    expect(said('vgg', 'local')).toMatch(
      /^no run is named "vgg": there are no runs on local\. Runs were started on lab: trainyard runs lab\. Start one with: trainyard run local -- /,
    );
    expect(said('vgg', 'lab')).toMatch(/there are no runs yet\. Start one with: trainyard run lab -- /);
    const entry = { id: '20261122-080000-first-aaaa' };
    expect(said('vgg', 'lab', [entry])).toContain(
      'The newest one is 20261122-080000-first-aaaa; trainyard runs lab lists all',
    );
  });
});

describe('RunRegistry', () => {
  const details = {
    id: 'r',
    dir: '/w/runs/r',
    run: null,
    state: null,
    interrupted: false,
    files: {},
    stamps: {},
  };
  async function registryWith(agent: FakeAgent): Promise<RunRegistry> {
    const client = await AgentClient.connect(agent.stream());
    return new RunRegistry(() => Promise.resolve(client), nodePath('/w'));
  }

  it('takes anything with a slash as a folder, read against the working folder', async () => {
    const agent = new FakeAgent(() => ({ result: details }));
    const registry = await registryWith(agent);
    expect((await registry.resolve('./runs/r', '/w')).id).toBe('r');
    expect(agent.requests[0]).toMatchObject({ method: 'run.get', params: { dir: '/w/runs/r' } });
  });

  it('says that a folder is no run', async () => {
    const registry = await registryWith(new FakeAgent(() => ({ error: { code: 1, message: 'no' } })));
    await expect(registry.resolve('/tmp')).rejects.toThrow('/tmp is not a run folder');
  });

  it('lists what the agent lists', async () => {
    const agent = new FakeAgent(() => ({ result: { runs: [details] } }));
    const registry = await registryWith(agent);
    expect(await registry.resolve('last')).toMatchObject({ dir: '/w/runs/r' });
    expect(agent.requests[0]).toMatchObject({ method: 'run.list', params: { workdir: '/w' } });
    await expect(registry.resolve('')).rejects.toThrow('empty');
  });
});

it('statusOf and isOver', () => {
  expect(statusOf({ state: null, interrupted: false })).toBe('unknown');
  expect(statusOf({ state: null, interrupted: true })).toBe('interrupted');
  expect((['starting', 'running', 'stopping', 'evaluating', 'unknown'] as const).some(isOver)).toBe(false);
  expect((['finished', 'stopped', 'failed', 'interrupted'] as const).every(isOver)).toBe(true);
});

it('workdirOf replaces a leading ~ only', () => {
  expect(workdirOf({ name: 'l', kind: 'local' }, nodePath('/home/me'))).toBe('/home/me/.trainyard');
  expect(workdirOf({ name: 'l', kind: 'local', workdir: '~' }, nodePath('/home/me'))).toBe('/home/me');
  expect(workdirOf({ name: 'l', kind: 'local', workdir: '/data/~x' }, nodePath('/home/me'))).toBe('/data/~x');
});
