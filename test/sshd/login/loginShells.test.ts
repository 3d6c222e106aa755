// The same result whatever a login shell is, and whatever its start files do.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOnAll } from '../../../src/core/cluster/nodes/fanOut.js';
import type { SshMachine } from '../../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';
import { requestOf } from '../../../src/core/plan/request/request.js';
import { RunFollower } from '../../../src/core/follow/run.js';
import { statusOf } from '../../../src/core/model/runStatus.js';
import { linkRuntime } from '../../cluster/support/hosts.js';
import { testCluster } from '../support/cluster.js';

const dir = mkdtempSync(join(tmpdir(), 'trainyard-shells-'));
beforeAll(() => {
  linkRuntime(join(dir, 'shared'));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** What start files of each shell do: print, read, sleep. */
const noise = 'echo "welcome \\$HOME"; echo warning >&2; sleep 0.3\n';
const reading = 'read line\n';
const shells: [name: string, startFile: string, text: string][] = [
  ['bash', '.bashrc', noise],
  ['bash', '.bashrc', `${noise}${reading}echo "read: $line"\n`],
  ['bash', '.bashrc', `${noise}exec tcsh\n`], // which forgets what it was asked to run
  ['dash', '.profile', noise],
  ['fish', '.config/fish/config.fish', noise],
  ['tcsh', '.tcshrc', 'echo "welcome"\nsleep 0.3\n'],
];

const becomes = (text: string): string | undefined => /exec (\w+)/.exec(text)?.[1];
const whatItDoes = (text: string): string => {
  const other = becomes(text);
  if (other !== undefined) return `becomes ${other}`;
  return text.includes('read') ? 'prints, sleeps and reads' : 'prints and sleeps';
};

const has = (shell: string): string | undefined => {
  const found = spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).stdout.trim();
  return found === '' ? undefined : found;
};

/** The same short run for each. */
async function train(machine: SshMachine, profile: Profile): Promise<{ phase: string; steps: number }> {
  const words = ['train', '--model', 'mlp', '--data', 'synthetic', '--steps', '20'];
  const { dir: run } = await machine.start(
    requestOf({ profile: { ...profile, workdir: join(dir, 'shared') }, words, cwd: '/' }),
  );
  const follower = new RunFollower({ dir: run, client: () => machine.node.client() });
  let steps = 0;
  follower.onMetric(({ value }) => {
    if (value?.kind === 'step') steps = value.step;
  });
  try {
    return { phase: statusOf(await follower.follow()), steps };
  } finally {
    follower.dispose();
  }
}

describe('a login shell', () => {
  for (const [index, [name, startFile, text]] of shells.entries()) {
    const missing = [name, becomes(text) ?? name].find((one) => has(one) === undefined);
    const title = `${name}, whose ${startFile} ${whatItDoes(text)}`;
    it.skipIf(missing !== undefined)(
      `${title}${missing === undefined ? '' : ` (${missing} is not installed)`}`,
      async () => {
        const own = join(dir, String(index));
        const home = join(own, 'practice-1', 'home');
        const path = join(home, startFile);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
        const cluster = await testCluster(own, { nodes: 1, shell: has(name)! });
        try {
          const machine = cluster.machine({ workdir: join(dir, 'shared') });
          const hello = await machine.node.hello();
          expect(hello.home).toBe(home);
          const words = [
            'printf',
            '%s|',
            'a b',
            '$HOME',
            '"',
            "'",
            '\\',
            '!x',
            'é',
            '*',
            '',
            '-n',
            '`id`',
            ';',
            '(',
            'x\ny',
          ];
          const lines: string[] = [];
          const endings = await runOnAll(machine.nodes, words, ({ stream, text: line }) => {
            if (stream === 'stdout') lines.push(line);
          });
          expect(endings).toEqual([{ host: '127.0.0.2', code: 0, signal: null, error: undefined }]);
          const printed = lines.join('\n');
          expect(printed.slice(printed.indexOf('a b|'))).toBe(
            words
              .slice(2)
              .map((word) => `${word}|`)
              .join(''),
          );
          expect(await train(machine, cluster.profile)).toEqual({ phase: 'finished', steps: 20 });
          const failing = await runOnAll(machine.nodes, ['sh', '-c', 'kill -9 $$'], () => undefined);
          expect(failing[0]?.code === 0).toBe(false);
        } finally {
          await cluster.stop();
        }
      },
      180_000,
    );
  }
});
