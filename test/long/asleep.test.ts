// Fault 3: the laptop sleeps. Its client stops for long, its connection is cut meanwhile, and when
// the client goes on its clock is four hours ahead. It attaches again by itself: with keys nobody
// is asked, with one-time codes once at most.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureFaketime } from '../../scripts/test/faketime.mjs';
import { startSshd, type Sshd } from '../../scripts/practice/sshd.mjs';
import type { NodePath } from '../../src/core/base/nodePath.js';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import type { Profile } from '../../src/core/contracts/profileSchema.js';
import { until } from '../support/harness.js';
import { pamPrefix } from '../sshd/support/passwords.js';
import { TcpProxy } from '../sshd/support/tcpProxy.js';
import { ClientProcess } from '../cluster/support/clientProcess.js';
import { form } from '../cluster/support/form.js';
import { practiceHosts, type FaultHosts } from '../cluster/support/hosts.js';
import { endless, linesOf, measured, seconds, startRun, training } from '../cluster/support/runs.js';

const root = join(import.meta.dirname, '../..');
/** Milliseconds. */
const asleep = form(40_000, 600_000);
const nap = form(10_000, 60_000);
const jump = 4 * 3600_000;

const canMount = ((): boolean => {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
})();
const code = 'one-time-code';

let hosts: FaultHosts;
let machine: SshMachine;
let runDir: NodePath;
const clients: ClientProcess[] = [];
const links: TcpProxy[] = [];
const clock = join(mkdtempSync(join(tmpdir(), 'trainyard-asleep-')), 'clock');

beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 1 });
  machine = hosts.machine();
  runDir = await startRun(machine, hosts.profile, training(endless, '--log-every', '20'));
});
afterAll(async () => {
  for (const client of clients) await client.stop();
  for (const link of links) await link.stop();
  await machine.stop(runDir, 'now');
  await hosts.stop();
  rmSync(join(clock, '..'), { recursive: true });
});

const lastStep = (): number => Number(linesOf(runDir, 'metrics.jsonl').at(-1)?.['step'] ?? 0);

/**
 * A client whose clock `setClock` sets; what counts from the start of the machine goes on, as on a
 * laptop.
 */
async function startClient(profile: Profile): Promise<ClientProcess> {
  setClock(0);
  const environment = {
    LD_PRELOAD: ensureFaketime(),
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const setup = { profile, home: hosts.trainyardHome, bundleDir: join(root, 'dist'), dir: runDir };
  const client = await ClientProcess.start(setup, environment);
  clients.push(client);
  return client;
}

function setClock(ahead: number): void {
  writeFileSync(clock, `+${ahead / 1000}s\n`);
}

/**
 * The way to a server, which the test cuts while the client sleeps: what stands between them
 * forgets who is silent for long.
 */
async function wayTo(port: number, hostKey: string): Promise<{ link: TcpProxy; profile: Profile }> {
  const link = await TcpProxy.start({ host: '127.0.0.2', port });
  links.push(link);
  const known = `[127.0.0.1]:${link.port} ${hostKey}\n`;
  appendFileSync(join(hosts.trainyardHome, 'known_hosts'), known);
  const [head] = hosts.profile.hosts ?? [];
  if (!head) throw new Error('no host');
  return { link, profile: { ...hosts.profile, hosts: [{ ...head, host: '127.0.0.1', port: link.port }] } };
}

/**
 * Stops it, cuts its link meanwhile, and lets it go on with its clock `jump` ahead. Returns when
 * that was.
 */
async function sleepThrough(client: ClientProcess, link: TcpProxy, length: number): Promise<number> {
  client.fallAsleep();
  const since = Date.now();
  setClock(jump);
  await sleep(length / 2);
  link.cut();
  await sleep(length / 2);
  const wokenAt = Date.now();
  client.wakeUp();
  measured(3, `client stopped for ${seconds(wokenAt - since)}, then its clock ${jump / 3600_000} h ahead`);
  return wokenAt;
}

describe('with keys', () => {
  let link: TcpProxy;
  let profile: Profile;
  beforeAll(async () => {
    const key = readFileSync(join(hosts.trainyardHome, 'known_hosts'), 'utf8').split('\n')[0] ?? '';
    const hostKey = key.slice(key.indexOf(' ') + 1);
    ({ link, profile } = await wayTo(hosts.profile.hosts?.[0]?.port ?? 0, hostKey));
  });

  test('a client that slept follows again, and nobody is asked', async () => {
    const client = await startClient(profile);
    await client.following(0, 0, 90);
    const wokenAt = await sleepThrough(client, link, asleep);
    const { at, now } = await client.following(lastStep(), wokenAt, 90);
    expect(now - at).toBeGreaterThan(jump * 0.99);
    expect(client.asked).toEqual([]);
    measured(3, `with keys: followed again ${seconds(at - wokenAt)} after waking, nobody asked`);
    await client.stop();
  });

  test('a clock that jumps while all is well, there and back, changes nothing', async () => {
    const client = await startClient(profile);
    await client.following(0, 0, 90);
    for (const ahead of [jump, 0]) {
      setClock(ahead);
      const since = Date.now();
      const { at, now } = await client.following(lastStep(), since, 90);
      expect(Math.abs(now - at - ahead)).toBeLessThan(60_000);
    }
    expect(client.asked).toEqual([]);
    await client.stop();
  });
});

describe.skipIf(!canMount)('with one-time codes (needs root and mounts)', () => {
  let server: Sshd;
  let link: TcpProxy;
  let profile: Profile;
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'trainyard-codes-'));
    const [host] = hosts.profile.hosts ?? [];
    const key = host?.identityFile ?? '';
    mkdirSync(join(dir, 'state'));
    const port = (host?.port ?? 0) + 400;
    server = await startSshd({
      address: '127.0.0.2',
      port,
      home: hosts.homes[0] ?? '',
      stateDir: join(dir, 'state'),
      authorizedKey: readFileSync(`${key}.pub`, 'utf8'),
      prefix: pamPrefix(dir, code),
      extraConfig: [
        'UsePAM yes',
        'PermitRootLogin yes',
        'KbdInteractiveAuthentication yes',
        'AuthenticationMethods publickey,keyboard-interactive',
      ],
    });
    ({ link, profile } = await wayTo(port, server.hostKey));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const wrong = { answer: 'wrong', what: 'answered wrongly' };
  test.each(form([wrong], [{ answer: code, what: 'answered' }, wrong]))(
    'a client that slept asks once, and once only when that is $what',
    async ({ answer }) => {
      const client = await startClient(profile);
      await until('the first question', () => client.asked.length > 0, 60);
      client.answer(code);
      await client.following(0, 0, 90);
      expect(client.asked).toEqual(['keyboard-interactive']);
      const wokenAt = await sleepThrough(client, link, nap);
      await until('the question after waking', () => client.asked.length > 1, 60);
      client.answer(answer);
      if (answer !== code) await sleep(form(12_000, 120_000));
      else await client.following(lastStep(), wokenAt, 90);
      expect(client.asked).toEqual(['keyboard-interactive', 'keyboard-interactive']);
      measured(
        3,
        `with one-time codes: asked once after waking (the answer was ${answer === code ? 'right' : 'wrong'})`,
      );
      await client.stop();
    },
  );
});
