// The transport over the user's own ssh behind a busy jump host, in network namespaces.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OpensshTransport } from '../../../src/core/ssh/openssh/opensshTransport.js';
import type { SshConnection } from '../../../src/core/ssh/base/transport.js';
import { NamespaceCluster, unavailable } from '../../support/namespaces.js';

const hosts = 8;

describe.skipIf(unavailable !== undefined)(`a jump host (${unavailable ?? 'namespaces'})`, () => {
  let cluster: NamespaceCluster;
  let transport: OpensshTransport;
  const home = mkdtempSync(join(tmpdir(), 'trainyard-home-'));

  const connect = (address: string): Promise<SshConnection> =>
    transport.connect({ host: address, proxyJump: cluster.jumpAddress });
  const logins = (log: string): number => readFileSync(log, 'utf8').split('Accepted publickey').length - 1;

  beforeAll(async () => {
    cluster = await NamespaceCluster.start({ hosts, jump: ['MaxStartups 2:50:4', 'MaxSessions 2'] });
    const prompter = { secret: () => Promise.resolve(undefined), trust: () => Promise.resolve(false) };
    transport = new OpensshTransport({ prompter, configFile: cluster.sshConfig, home });
  });
  afterAll(async () => {
    transport.dispose();
    await cluster.stop();
    rmSync(home, { recursive: true });
  });

  test('all hosts behind it are reached by one login there, whether they are asked for at once or not', async () => {
    const connections = await Promise.all(cluster.hosts.map(({ address }) => connect(address)));
    const homes = await Promise.all(
      connections.map(async (connection) => text((await connection.exec('echo $HOME')).stdout)),
    );
    expect(homes).toEqual(cluster.hosts.map(({ home }) => `${home}\n`));
    expect(logins(cluster.jump!.sshd.log)).toBe(1);
    for (const connection of connections) connection.dispose();
    (await connect(cluster.hosts[0]!.address)).dispose();
    expect(logins(cluster.jump!.sshd.log)).toBe(2);
  });

  test('a host that the jump host cannot reach is said, and keeps no other from being reached', async () => {
    const nowhere = cluster.hosts[0]!.address.replace(/\d+$/, '250');
    await expect(connect(nowhere)).rejects.toThrow(/jump host cannot reach .*250/);
    (await connect(cluster.hosts[1]!.address)).dispose();
  });

  test('a lost jump host loses what is behind it', async () => {
    const connection = await connect(cluster.hosts[0]!.address);
    const lost = new Promise<Error>((resolve) => connection.onClose(resolve));
    cluster.cutClient();
    expect((await lost).message).toMatch(/was lost/);
    cluster.healClient();
    (await connect(cluster.hosts[0]!.address)).dispose();
  });
});
