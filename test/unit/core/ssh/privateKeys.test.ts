import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { privateKeys } from '../../../../src/core/ssh/auth/privateKeys.js';
import { temporaryFolder } from '../../support/temporary.js';

it('finds private keys by what is in them, with type and comment of the public half', async () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  write('id_ed25519', '-----BEGIN OPENSSH PRIVATE KEY-----\nxyz\n');
  write('id_ed25519.pub', 'ssh-ed25519 AAAA ada on her laptop\n');
  write('cluster.pem', '-----BEGIN RSA PRIVATE KEY-----\nxyz\n');
  write('pkcs8', '-----BEGIN PRIVATE KEY-----\n');
  write('known_hosts', 'gpu1 ssh-ed25519 AAAA\n');
  write('config', 'Host gpu1\n');
  write('certificate', '-----BEGIN CERTIFICATE-----\n');
  mkdirSync(join(folder, 'folder'));
  symlinkSync(join(folder, 'cluster.pem'), join(folder, 'z-link'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'broken'));
  expect(await privateKeys(folder)).toEqual([
    { path: join(folder, 'cluster.pem'), about: '' },
    { path: join(folder, 'id_ed25519'), about: 'ed25519, ada on her laptop' },
    { path: join(folder, 'pkcs8'), about: '' },
    { path: join(folder, 'z-link'), about: '' },
  ]);
});

it('there is no such folder', async () => {
  expect(await privateKeys(join(temporaryFolder(), 'none'))).toEqual([]);
});
