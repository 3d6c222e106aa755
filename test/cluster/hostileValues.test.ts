// Fault 15: values of a profile that a shell, an option parser or a configuration file would take
// for something else.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { profileSchema, type Profile } from '../../src/core/contracts/profileSchema.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { check, pathText } from '../../src/core/base/validation.js';
import { form } from './support/form.js';
import { linkRuntime, practiceHosts, type FaultHosts } from './support/hosts.js';
import { measured, startRun, untilOver } from './support/runs.js';

const folder = mkdtempSync(join(tmpdir(), 'trainyard-hostile-'));
/** Made by whatever lets a shell see a value. */
const canary = join(folder, 'canary');

let hosts: FaultHosts;
let machine: SshMachine;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 1 });
  machine = hosts.machine();
});
afterAll(async () => {
  await hosts.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Without blanks, as some fields refuse them; `${IFS}` is one to a shell. */
const attacks = [
  '$(touch${IFS}CANARY)',
  '`touch${IFS}CANARY`',
  ';touch${IFS}CANARY;',
  '|touch${IFS}CANARY',
  '&&touch${IFS}CANARY',
  "'$(touch${IFS}CANARY)'",
  '"$(touch${IFS}CANARY)"',
  '\\"`touch${IFS}CANARY`',
  '-oProxyCommand=touch${IFS}CANARY',
  '%h$(touch${IFS}CANARY)',
  'x\ntouch CANARY\n',
  "';touch CANARY;'",
  '-oLocalCommand=touch CANARY',
].map((text) => text.replaceAll('CANARY', canary));
const attack = fc.constantFrom(...attacks);
const pieces = fc.oneof(
  attack,
  fc.constantFrom(
    '"',
    "'",
    '\\',
    '\n',
    '\r\n',
    '\t',
    '$HOME',
    '~',
    '*',
    '!!',
    '-',
    '--',
    '#',
    '%s',
    '{}',
    ' ',
  ),
  fc.constantFrom('é', '日本', '\u202e', '👩‍🚀', '\u{10ffff}', '\x7f', '\x1b[31m'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const hostile = fc.array(pieces, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
/** What the system takes as one of a program's words. */
const word = hostile.filter((text) => !text.includes('\0'));

/** Each text field of a profile, put to a value. */
const fields: Record<string, (value: string) => unknown> = {
  name: (name) => ({ ...hosts.profile, name }),
  head: (head) => ({ ...hosts.profile, head }),
  workdir: (workdir) => ({ ...hosts.profile, workdir }),
  interface: (value) => ({ ...hosts.profile, interface: value }),
  portRange: (portRange) => ({ ...hosts.profile, portRange }),
  transport: (transport) => ({ ...hosts.profile, transport }),
  launcher: (launcher) => ({ ...hosts.profile, launcher }),
  'env.TY_VALUE': (value) => ({ ...hosts.profile, env: { TY_VALUE: value } }),
  ...Object.fromEntries(
    (['host', 'address', 'user', 'identityFile', 'proxyJump'] as const).map((field) => [
      `hosts[0].${field}`,
      (value: string) => ({ ...hosts.profile, hosts: [{ ...hosts.profile.hosts?.[0], [field]: value }] }),
    ]),
  ),
};

function valueAt(profile: Profile, field: string): unknown {
  return field
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], profile);
}

const printer = `
import json, os, sys
said = {"argv": sys.argv[1:], "env": {k: v for k, v in os.environ.items() if k.startswith("TY_")}}
sys.stdout.write(json.dumps(said) + "\\n")
`;

test('the canary is made where a shell does see a value', () => {
  for (const value of attacks.filter((text) => !/^[-'%x]/.test(text))) {
    spawnSync('sh', ['-c', `: ${value}`]);
    expect({ value, ran: existsSync(canary) }).toEqual({ value, ran: true });
    rmSync(canary);
  }
});

describe('a hostile value', () => {
  test.each(Object.keys(fields))('of %s is refused by its name, or kept as it is', (field) => {
    fc.assert(
      fc.property(hostile, (value) => {
        const result = check(profileSchema, fields[field]!(value));
        if (result.ok) expect(valueAt(result.data, field)).toBe(value);
        else expect(result.problems.map(({ path }) => pathText(path))).toContain(field);
      }),
      { numRuns: form(200, 2000) },
    );
  });

  test('among words and environment reaches a program on a node exactly', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 8 }),
        fc.dictionary(fc.stringMatching(/^TY_[A-Za-z0-9_]{1,8}$/), word, { maxKeys: 6 }),
        async (words, env) => {
          const channel = await machine.nodes[0]!.run(['python3', '-c', printer, ...words], { env });
          let text = '';
          channel.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          channel.stdin.end();
          await channel.closed;
          expect(JSON.parse(text)).toEqual({ argv: words, env: { ...env } });
        },
      ),
      { numRuns: form(40, 200) },
    );
    expect(existsSync(canary)).toBe(false);
  });

  test('among words and environment reaches a rank of a run exactly', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { minLength: 10, maxLength: 20 }),
        fc.array(word, { minLength: 10, maxLength: 20 }),
        async (words, values) => {
          const env = Object.fromEntries(values.map((value, index) => [`TY_${index}`, value]));
          const profile = { ...hosts.profile, env };
          const dir = await startRun(machine, profile, ['python3', '-c', printer, ...attacks, ...words]);
          const { state } = await untilOver(machine, dir);
          expect(state).toMatchObject({ phase: 'finished', exitCode: 0 });
          const said: unknown = JSON.parse(readFileSync(join(dir, 'logs/rank-0.log'), 'utf8'));
          expect(said).toEqual({ argv: [...attacks, ...words], env });
        },
      ),
      { numRuns: form(3, 10) },
    );
    expect(existsSync(canary)).toBe(false);
  });

  test('as the workdir holds a whole run', async () => {
    const names = attacks
      .filter((text) => !text.includes('\n'))
      .map((text) => text.replaceAll('/', '\u2215'));
    const workdir = join(hosts.homes[0]!, ...names);
    linkRuntime(workdir);
    const own = hosts.machine({ workdir });
    const dir = await startRun(own, { ...hosts.profile, workdir }, ['python3', '-c', printer, ...names]);
    expect(dir.startsWith(workdir)).toBe(true);
    const { state } = await untilOver(own, dir);
    expect(state).toMatchObject({ phase: 'finished', exitCode: 0 });
    const said: unknown = JSON.parse(readFileSync(join(dir, 'logs/rank-0.log'), 'utf8'));
    expect(said).toEqual({ argv: names, env: {} });
    expect(existsSync(canary)).toBe(false);
  });

  test('that no system call takes, or that would break a line of a launcher, is refused', () => {
    for (const [field, value] of [
      ['env.TY_VALUE', 'a\0b'],
      ['workdir', '/a\nb'],
      ['hosts[0].identityFile', '/a\nb'],
    ] as const) {
      const result = check(profileSchema, fields[field]!(value));
      expect(result.ok ? [] : result.problems.map(({ path }) => pathText(path))).toEqual([field]);
    }
  });

  test.each(['ssh2', 'openssh'] as const)(
    'on the way to a host is refused or does not connect, and no shell runs it (%s)',
    async (transport) => {
      let refused = 0;
      let tried = 0;
      for (const field of ['host', 'user', 'identityFile', 'proxyJump'] as const) {
        for (const value of attacks) {
          const host = { ...hosts.profile.hosts![0]!, [field]: value };
          const profile = { ...hosts.profile, transport, hosts: [host] };
          const result = check(profileSchema, profile);
          if (!result.ok) {
            expect(result.problems.map(({ path }) => pathText(path))).toContain(`hosts[0].${field}`);
            refused++;
            continue;
          }
          tried++;
          const own = hosts.machine(profile);
          await own.nodes[0]!.connection(AbortSignal.timeout(5000)).then(
            () => undefined,
            (error: unknown) => {
              expect(error).toBeInstanceOf(Error);
            },
          );
          own.dispose();
          expect({ field, value, ran: existsSync(canary) }).toEqual({ field, value, ran: false });
        }
      }
      measured(15, `${transport}: ${refused} values refused by the schema, ${tried} tried, none run`);
      expect(tried).toBeGreaterThan(10);
    },
  );
});
