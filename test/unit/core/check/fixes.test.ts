// Which rows a command mends, and what the shell of the node is given.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { bad, good, warned } from '../../../../src/core/base/checks.js';
import { keepProcesses, raiseLimit, setMtu } from '../../../../src/core/base/nodeCommands.js';
import type { CommandRemedy } from '../../../../src/core/base/remedy.js';
import { fixCommand, fixesOf } from '../../../../src/core/check/fixes.js';

it('nodes that one command mends share a fix, and other advice is none', () => {
  const mtu = warned('MTU', '1500, most have 9000', setMtu('eth0', '9000'));
  const results = [
    { ...mtu, host: 'gpu1' },
    { ...mtu, host: 'gpu2' },
    { ...warned('MTU', '1400, most have 9000', setMtu('eth1', '9000')), host: 'gpu3' },
    { ...bad('logind', 'it ends your processes', keepProcesses), host: 'gpu1' },
    { ...bad('disk', 'full', { kind: 'moreSpace', host: 'gpu1' }), host: 'gpu1' },
    { ...warned('link', 'slow', 'Look at cable and switch'), host: 'gpu1' },
    { ...good('glibc', '2.36'), host: 'gpu1' },
  ];
  expect(fixesOf(results).map(({ row, hosts, remedy }) => [row, hosts, remedy.command])).toEqual([
    ['MTU', ['gpu1', 'gpu2'], 'ip link set dev eth0 mtu 9000'],
    ['MTU', ['gpu3'], 'ip link set dev eth1 mtu 9000'],
    ['logind', ['gpu1'], 'loginctl enable-linger'],
  ]);
});

const remedy = (command: string, asRoot: boolean): CommandRemedy => ({
  ...{ kind: 'runCommand', purpose: 'Try it', command, asRoot, onNextLogin: false },
});
const run = (argv: readonly string[]): string => {
  const [file = '', ...args] = argv;
  return execFileSync(file, args, { encoding: 'utf8' });
};

it('the shell reads the command whole, with its quotes', () => {
  expect(run(fixCommand(remedy(`printf '%s|' "a b" 'c d'`, false)))).toBe('a b|c d|');
});

it.skipIf(process.getuid?.() !== 0)('root needs no sudo', () => {
  expect(run(fixCommand(remedy('id -u', true)))).toBe('0\n');
});

it('a limit is two lines of a file of its own', () => {
  const { command } = raiseLimit('nofile', '1048576');
  const [, text = '', file] = /^printf '(.*)' > (.*)$/.exec(command) ?? [];
  expect(file).toBe('/etc/security/limits.d/90-trainyard-nofile.conf');
  expect(run(['/bin/sh', '-c', `printf '${text}'`])).toBe('* - nofile 1048576\nroot - nofile 1048576\n');
});
