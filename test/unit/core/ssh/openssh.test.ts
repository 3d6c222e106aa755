// What ssh asks, told apart by its words; and that only ssh's own program gets answers.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkTarget, socketWord } from '../../../../src/core/ssh/openssh/arguments.js';
import { Askpass } from '../../../../src/core/ssh/openssh/askpass.js';
import { readPrompt } from '../../../../src/core/ssh/openssh/prompts.js';
import { marksServers } from '../../../../src/core/ssh/openssh/version.js';

const who = { host: 'gpu1', user: 'me' };
const hostKey = (name: string, ip: string): string =>
  `The authenticity of host '${name} (${ip})' can't be established.\n` +
  'ED25519 key fingerprint is SHA256:elimQT04NEtuiPqC0VNsTzr3rhP+5za6+MW7H6tQIrI.\n' +
  'This key is not known by any other names.\n' +
  'Are you sure you want to continue connecting (yes/no/[fingerprint])? ';
const key = { type: 'ED25519', fingerprint: 'SHA256:elimQT04NEtuiPqC0VNsTzr3rhP+5za6+MW7H6tQIrI' };

test.each([
  ['[gpu1]:2222', '[10.0.0.5]:2222', { host: 'gpu1', address: '10.0.0.5', port: 2222 }],
  ['gpu1', '10.0.0.5', { host: 'gpu1', address: '10.0.0.5', port: 22 }],
  ['gpu1', 'fe80::1%eth0', { host: 'gpu1', address: 'fe80::1%eth0', port: 22 }],
  ['gpu1', '<no hostip for proxy command>', { host: 'gpu1', address: 'gpu1', port: 22 }],
])('the key of %s at %s', (name, ip, place) => {
  expect(readPrompt(hostKey(name, ip), '', who, true)).toEqual({
    kind: 'hostKey',
    key: { ...key, ...place },
  });
});

test.each([
  ["Enter passphrase for key '/home/me/my key': ", 'passphrase', who, '/home/me/my key'],
  ["Enter passphrase for PKCS#11 key 'x': ", 'passphrase', who, undefined],
  ['Enter PIN for ED25519-SK key /home/me/.ssh/id_sk: ', 'passphrase', who, undefined],
  ["root@jump's password: ", 'password', { host: 'jump', user: 'root' }, undefined],
  ['(me@gpu1) Verification code: ', 'keyboard-interactive', who, undefined],
  ['One-time code: ', 'keyboard-interactive', who, undefined],
])('%s', (prompt, kind, asked, keyFile) => {
  const question = readPrompt(prompt, '', who, true);
  expect(question).toMatchObject({ kind: 'secret', request: { ...asked, kind, echo: false } });
  if (kind !== 'passphrase' || keyFile !== undefined) expect(question).toMatchObject({ keyFile });
});

test.each([
  ['(me@gpu1) (root@bank) Password: ', true],
  ["(me@gpu1) Enter passphrase for key '/home/me/my key': ", true],
  ["(me@gpu1) root@bank's password: ", true],
  ["Enter passphrase for key '/home/me/my key': ", false],
  ["root@bank's password: ", false],
  ['(root@bank) Password: ', false],
])('%s may be a server’s (marked: %s), and says so', (prompt, marks) => {
  const question = readPrompt(prompt, '', who, marks);
  const request = { ...who, kind: 'keyboard-interactive', prompt: prompt.replace(': ', '') };
  expect(question).toMatchObject({ kind: 'secret', request, keyFile: undefined });
});

test('a server’s words about a host key are no question of ssh', () => {
  const question = readPrompt(`(me@gpu1) ${hostKey('bank', '10.0.0.5')}`, '', who, true);
  expect(question).toEqual({ kind: 'unknown' });
});

test.each([
  ['OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19', true],
  ['OpenSSH_8.5p1, OpenSSL 1.1.1k', true],
  ['OpenSSH_for_Windows_9.5p1, LibreSSL 3.8.2', true],
  ['OpenSSH_10.0p2 Debian-7, OpenSSL 3.5.1', true],
  ['OpenSSH_8.4p1 Debian-5+deb11u3, OpenSSL 1.1.1w', false],
  ['OpenSSH_7.4p1, OpenSSL 1.0.2k-fips', false],
  ['Sun_SSH_1.5', false],
  ['', false],
])('of %j it is known whether it marks what servers ask: %s', (shown, marks) => {
  expect(marksServers(shown)).toBe(marks);
});

test('a question of yes or no that is no host key is never answered', () => {
  expect(readPrompt('Overwrite it (yes/no)? ', '', who, true)).toEqual({ kind: 'unknown' });
  expect(readPrompt('Allow use of key x?', 'confirm', who, true)).toEqual({ kind: 'unknown' });
  expect(readPrompt('Confirm user presence for key x', 'none', who, true)).toEqual({ kind: 'notice' });
});

describe('the askpass program', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "trainyard ask'pass-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  test('prints the answer as it is, and fails without one', async () => {
    const answers: Record<string, string | undefined> = { 'a "b" $c?': ' x$y"z\' ü ', nothing: undefined };
    const askpass = await Askpass.start(folder, (prompt) => Promise.resolve(answers[prompt]));
    try {
      expect(statSync(askpass.program).mode & 0o777).toBe(0o700);
      const { stdout } = await promisify(execFile)(askpass.program, ['a "b" $c?']);
      expect(stdout).toBe(' x$y"z\' ü \n');
      await expect(promisify(execFile)(askpass.program, ['nothing'])).rejects.toMatchObject({ code: 1 });
    } finally {
      askpass.dispose();
    }
    await expect(promisify(execFile)(askpass.program, ['a "b" $c?'])).rejects.toMatchObject({ code: 1 });
  });

  test('asks nobody for whoever does not know its token', async () => {
    let asked = 0;
    const askpass = await Askpass.start(folder, () => Promise.resolve(String(++asked)));
    try {
      for (const line of ['{"token":"guess","prompt":"x","hint":""}\n', 'nonsense\n', '{}\n']) {
        const socket = connect(join(folder, 'ask'));
        socket.write(line);
        expect(await text(socket)).toBe('');
      }
      expect(asked).toBe(0);
    } finally {
      askpass.dispose();
    }
  });
});

test.each(['gpu1', 'gpu-1.lab.example', '10.0.0.5', 'fe80::1%eth0', '[::1]', 'me@gpu1', 'größe'])(
  'the host %s is taken',
  (host) => {
    expect(() => {
      checkTarget({ host });
    }).not.toThrow();
  },
);

test.each(['', '-l', 'a b', 'a$b', 'a;b', 'a`b`', "a'b", 'a"b', 'a\nb', 'a|b', 'a&b', '%h(x)'])(
  'the host %j is not',
  (host) => {
    expect(() => {
      checkTarget({ host });
    }).toThrow(/is no host/);
  },
);

test('a path of a socket stands in -L as it is', () => {
  expect(socketWord('/a b:c\\d%e')).toBe('/a b\\:c\\\\d%%e');
  for (const path of ['relative', '/a${HOME}', '/a\nb']) expect(() => socketWord(path)).toThrow(/cannot be/);
});
