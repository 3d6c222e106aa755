// Tools for language models: bounded answers, hidden characters shown, inputs checked.
import { describe, expect, it } from 'vitest';
import { boundedJson, seen } from '../../../../src/core/assist/bounded.js';
import { callTool, type Ask } from '../../../../src/cli/mcp/answers.js';
import { findExactRun, type ToolHost } from '../../../../src/core/assist/toolHost.js';
import { checkedInput, inputSchema, toolNamed, tools } from '../../../../src/core/assist/tools.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';

const local: Profile = { name: 'local', kind: 'local' };
/** Of whose machine nothing is ever asked but its runs. */
function hostWith(ids: readonly string[]): ToolHost {
  const machine = { registry: () => ({ resolve: () => ({ id: ids[0] }) }) };
  return {
    profiles: {
      contents: () => Promise.resolve({ profiles: [local], broken: [] }),
      get: () => Promise.resolve(local),
    },
    book: { profileOf: () => Promise.resolve(undefined) },
    note: () => Promise.resolve(),
    cwd: '/',
    machine: () => Promise.resolve(machine as never),
    adviceText: (advice) => (typeof advice === 'string' ? advice : advice.kind),
  };
}

describe('an answer', () => {
  it('is bounded, and says what it leaves out', () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `line ${at} ${'x'.repeat(5000)}`);
    const json = boundedJson({ lines, ['k'.repeat(1000)]: 1 });
    expect(json.length).toBeLessThanOrEqual(40_000);
    const { lines: kept } = JSON.parse(json) as { lines: string[] };
    expect(kept.at(-1)).toMatch(/^… \d+ more$/);
    expect(kept[0]).toMatch(/^line 0 x+… \d+ more characters$/);
    expect(boundedJson({ a: 'x'.repeat(99), b: ['y'.repeat(99)] }, 20).length).toBeLessThan(99);
  });

  it('shows what is hidden in texts and names', () => {
    expect(seen('a\u200bb\u{e0041}\u001b[2J\u202e')).toBe('a\\u{200b}b\\u{e0041}\\x1b[2J\\u202e');
    expect(boundedJson({ 'k\u200b': ['v\ufeff'] })).toBe('{"k\\\\u{200b}":["v\\\\u{feff}"]}');
    expect(JSON.parse(boundedJson({ text: 'two\nlines\t"quoted"' }))).toEqual({
      text: 'two\nlines\t"quoted"',
    });
  });
});

describe('a run', () => {
  it('of a profile that is no more is not looked for on this machine', async () => {
    const host = { ...hostWith(['last']), book: { profileOf: () => Promise.resolve('lab') } };
    await expect(findExactRun(host, { run: 'last' })).rejects.toThrow('profile lab, which is not there');
  });
});

describe('a call', () => {
  const host = hostWith(['20260101-000000-a-1111']);
  const ask =
    (answer: boolean | undefined): Ask =>
    () =>
      Promise.resolve(answer);

  it('that would change something is refused without the user', async () => {
    for (const answer of [undefined, false]) {
      const given = { profile: 'local', command: ['true'] };
      const options = { host, ask: ask(answer), allowStart: answer === false };
      const result = await callTool('start_run', given, options, {});
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0]?.text).toMatch(answer === false ? /did not agree/ : /--allow-start/);
    }
  });

  it('shows the user the whole command, hidden characters too', async () => {
    const asked: string[] = [];
    const given = {
      profile: 'local',
      command: ['sh', '-c', 'true\u202e; rm\u200b x'],
      gpus: '0,1',
      ranks: 2,
    };
    const tell: Ask = (question) => {
      asked.push(question);
      return Promise.resolve(false);
    };
    await callTool('start_run', given, { host, ask: tell, allowStart: false }, {});
    expect(asked).toEqual(['Start on profile local, 2 ranks, GPUs 0,1: sh -c "true\\u202e; rm\\u{200b} x"']);
  });

  it('shows the hosts that a start is bound to, and refuses others before the user is asked', async () => {
    const asked: string[] = [];
    const tell: Ask = (question) => {
      asked.push(question);
      return Promise.resolve(false);
    };
    const lab: Profile = { name: 'lab', kind: 'ssh', hosts: [{ host: 'gpu1' }, { host: 'gpu3' }] };
    const profiles = { ...host.profiles, get: () => Promise.resolve(lab) };
    const options = { host: { ...host, profiles }, ask: tell, allowStart: false };
    const given = { profile: 'lab', command: ['true'], ranks: 2 };
    await callTool('start_run', { ...given, hosts: ['gpu1', 'gpu3'] }, options, {});
    const wrong = await callTool('start_run', { ...given, hosts: ['gpu2'] }, options, {});
    expect(asked).toEqual(['Start on profile lab, 2 ranks, hosts gpu1 gpu3: true']);
    expect(wrong.content[0]?.text).toContain('gpu2 is no host of profile lab');
  });

  it('shows what a start may cost, and what it asks of Slurm', async () => {
    const asked: string[] = [];
    const tell: Ask = (question) => {
      asked.push(question);
      return Promise.resolve(false);
    };
    const hpc: Profile = {
      name: 'hpc',
      kind: 'slurm',
      hosts: [{ host: 'login' }],
      pricePerNodeHour: 12,
      currency: 'EUR',
    };
    const profiles = { ...host.profiles, get: () => Promise.resolve(hpc) };
    const given = { profile: 'hpc', command: ['true'], budget: 12.5, budget_stop: true, time_limit: '2h' };
    const slurm = { partition: 'long', time: '8:00:00', exclusive: true };
    const options = { host: { ...host, profiles }, ask: tell, allowStart: false };
    await callTool('start_run', { ...given, slurm }, options, {});
    const wishes = 'Slurm partition=long, Slurm time=8:00:00, Slurm exclusive=true';
    const limits = 'budget 12.50 EUR, a stop at the budget, a stop after 2h';
    expect(asked).toEqual([`Start on profile hpc, ${limits}, ${wishes}: true`]);
    const endless = await callTool('start_run', { ...given, time_limit: '2' }, options, {});
    expect(endless.content[0]?.text).toMatch(/time_limit must be from 1s to 365d, not "2"\. Write, say, 90s/);
    const wrong = await callTool('start_run', { ...given, slurm: { time: 'long' } }, options, {});
    expect(wrong).toMatchObject({ isError: true });
    expect(wrong.content[0]?.text).toMatch(/no time limit of Slurm/);
    const here = await callTool('start_run', { ...given, profile: 'local' }, { ...options, host }, {});
    expect(here.content[0]?.text).toMatch(/a budget needs a price/);
    expect(asked).toHaveLength(1);
  });

  it('names what is wrong with its input', () => {
    expect(() => checkedInput(toolNamed('read_log'), { run: 'a', lines: 100_000 })).toThrow(/lines/);
    expect(() => checkedInput(toolNamed('list_runs'), {})).toThrow(/profile/);
    expect(() => toolNamed('rm')).toThrow(/there is no tool "rm"/);
  });

  it('acts on a run by its whole id alone', async () => {
    await expect(findExactRun(host, { run: 'last' })).rejects.toThrow(/not the whole id/);
    await expect(findExactRun(host, { run: '/etc' })).rejects.toThrow(/not by a folder/);
    expect((await findExactRun(host, { run: '20260101-000000-a-1111' })).entry.id).toContain('1111');
  });
});

it('every tool has an input of one object, and those that act a question', () => {
  expect(tools.filter(({ question }) => question).map(({ name }) => name)).toEqual([
    'start_run',
    'resume_run',
    'stop_run',
  ]);
  for (const tool of tools) {
    expect(inputSchema(tool)).toMatchObject({ type: 'object', additionalProperties: false });
  }
});
