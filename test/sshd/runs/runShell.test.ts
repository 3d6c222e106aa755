// A terminal in a run's folder: the environment in the run's record reaches the shell as it stands
// there, whatever is in it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { QuietStart } from '../../../src/core/follow/quietStart.js';
import { runShellStart } from '../../../src/core/follow/runShell.js';
import { known, ScriptedPrompter, World } from '../support/hosts.js';

const world = new World();
afterAll(() => world.remove());

/** Keys that a terminal or a line editor acts on, and signs that a shell does. */
const nasty = 'it\'s\x03 \t\t!! !$ "$HOME" `id` \\ ü\r\n\x04\x15\x1b[A two ; exit 7';
const folder = join(world.dir, "a run's !! $HOME\tfolder\x15ü");
const record = {
  env: { NASTY: nasty, TRAINYARD_RUN_DIR: 'overruled', PATH: 'overruled' },
  paths: { trainer: '/the programs/bin/trainer', python: '/runtime/bin/python' },
};
const show =
  'import json,os;e=os.environ;n=["NASTY","TRAINYARD_RUN_DIR","TRAINYARD_TERMINAL","PATH"];' +
  'print("<"+"<"+json.dumps([os.getcwd()]+[e.get(k) for k in n])+">"+">",flush=True)';

const has = (shell: string): string | undefined => {
  const found = spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).stdout.trim();
  return found === '' ? undefined : found;
};

const greeting = 'in the folder of the run\r\n';

/** What a terminal there shows, in which the shell shows itself once it is in the folder. */
async function shownBy(shell: string, address: string, dir: string): Promise<string> {
  const server = await world.serve(address, { shell });
  world.know(known(server));
  const transport = world.transport(new ScriptedPrompter());
  const target = { host: server.address, port: server.port, identityFile: world.key };
  const connection = await transport.connect(target);
  const login = await connection.shell({ columns: 200, rows: 40, term: 'xterm-256color' });
  const terminal = new QuietStart(login, runShellStart(dir), greeting);
  let shown = '';
  terminal.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString('utf8')));
  terminal.stdin.write(`python3 -c '${show}'; exit\r`);
  await expect.poll(() => shown, { timeout: 30_000 }).toMatch(/<<\[.*\]>>/);
  transport.dispose();
  return shown;
}

/** It begins with what we greet with, and has nothing of the line that was typed for the user. */
function expectClean(shown: string): void {
  expect(shown.startsWith(greeting)).toBe(true);
  for (const typed of ['fromhex', 'excepthook', 'exec ', Buffer.from(folder).toString('hex'), ']7717;']) {
    expect(shown).not.toContain(typed);
  }
}

describe.each([
  ['bash', '127.0.0.2'],
  ['dash', '127.0.0.3'],
  ['fish', '127.0.0.4'],
  ['tcsh', '127.0.0.5'],
])('%s', (name, address) => {
  const shell = has(name);
  test.skipIf(shell === undefined)(`has the environment (${shell ?? 'not installed'})`, async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'run.json'), JSON.stringify(record));
    const shown = await shownBy(shell!, address, folder);
    expectClean(shown);
    const values = JSON.parse(/<<(\[.*\])>>/.exec(shown)?.[1] ?? '[]') as string[];
    expect(values.slice(0, 4)).toEqual([folder, nasty, folder, '1']);
    expect(values[4]).toMatch(/^\/the programs\/bin:\/runtime\/bin:.*\/bin/);
  });
});

test('a run whose record is gone still gets a shell, and says what is missing', async () => {
  const empty = join(world.dir, 'empty');
  mkdirSync(empty);
  const shown = await shownBy(has('bash')!, '127.0.0.6', empty);
  expectClean(shown);
  expect(shown).toMatch(/trainyard: the environment of the run cannot be set: .*run\.json/);
});

test('a folder whose path does not fit into a line of a terminal is refused', () => {
  expect(() => runShellStart(`/${'x'.repeat(2000)}`)).toThrow(/2001 bytes, too many for a terminal/);
});
