// The practice cluster, reached as a user reaches it: by the real ssh.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPracticeCluster } from '../../../scripts/practice/practice.mjs';
import type { PracticeCluster, PracticeNode } from '../../../scripts/practice/practice.mjs';
import { profileSchema, profilesFileSchema } from '../../../src/core/contracts/profileSchema.js';

const run = promisify(execFile);
const dir = mkdtempSync(join(tmpdir(), 'trainyard-practice-'));
let cluster: PracticeCluster;

beforeAll(async () => {
  cluster = await startPracticeCluster({ nodes: 3, dir });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function ssh(node: PracticeNode, command: string): Promise<string> {
  const options = ['BatchMode=yes', 'StrictHostKeyChecking=yes', `UserKnownHostsFile=${cluster.knownHosts}`];
  const { stdout } = await run('ssh', [
    ...['-F', 'none', '-i', cluster.identityFile, '-p', String(cluster.port)],
    ...options.flatMap((option) => ['-o', option]),
    ...[node.address, command],
  ]);
  return stdout;
}

/** Processes with this text in their environment, command line or working folder. */
function processesOf(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false;
    try {
      return ['environ', 'cmdline'].some((name) =>
        readFileSync(`/proc/${pid}/${name}`, 'latin1').includes(text),
      );
    } catch {
      return false; // it ended, or is another user's
    }
  });
}

test('the profile is one that Trainyard takes', () => {
  const parsed = z.parse(profileSchema, cluster.profile);
  expect(parsed.hosts?.map(({ host }) => host)).toEqual(['127.0.0.2', '127.0.0.3', '127.0.0.4']);
});

test('the script prints a whole profiles.json, says where it belongs, and explains itself', async () => {
  const script = 'scripts/practice/practice.mjs';
  const { stdout: help } = await run(process.execPath, [script, '--help']);
  expect(help).toContain('--nodes N');
  const home = join(dir, 'its home');
  const env = { ...process.env, XDG_CACHE_HOME: join(dir, 'cache'), TRAINYARD_HOME: home };
  const child = spawn(process.execPath, [script, '--nodes', '1'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [printed, said] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ctrl-C ends')) resolve();
    });
  });
  child.kill('SIGINT');
  await ended;
  expect(said).toContain(join(home, 'profiles.json'));
  const { profiles } = z.parse(profilesFileSchema, JSON.parse(printed));
  expect(profiles.map(({ name }) => name)).toEqual(['practice']);
});

test('each node answers with a home, working folder and folder of runs of its own', async () => {
  const homes = await Promise.all(
    cluster.nodes.map((node) => ssh(node, 'echo $HOME; pwd -P; echo ${XDG_CACHE_HOME-unset}')),
  );
  expect(homes).toEqual(
    cluster.nodes.map(({ name }) => {
      const home = join(dir, name, 'home');
      return `${home}\n${home}\nunset\n`;
    }),
  );
});

test('what pip needs behind a proxy reaches the node', async () => {
  const certificates = process.env['SSL_CERT_FILE'] ?? '';
  expect(await ssh(cluster.nodes[0]!, 'echo "$SSL_CERT_FILE:$PATH"')).toBe(
    `${certificates}:${process.env['PATH'] ?? ''}\n`,
  );
});

test('a stop ends sessions and what left them, and nothing else', async () => {
  const other = mkdtempSync(join(tmpdir(), 'trainyard-practice-'));
  const second = await startPracticeCluster({ nodes: 1, dir: other });
  try {
    const keeps = ['-F', 'none', '-i', second.identityFile, '-p', String(second.port)];
    const known = ['-o', `UserKnownHostsFile=${second.knownHosts}`];
    const session = run('ssh', [...keeps, ...known, '127.0.0.2', 'sleep 600']).catch(() => 'cut');
    const stubborn = `setsid sh -c 'trap "" TERM; echo ready >ready; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &`;
    await run('ssh', [...keeps, ...known, '127.0.0.2', stubborn]);
    await expect.poll(() => existsSync(join(second.nodes[0]!.home, 'ready'))).toBe(true);
    expect(processesOf(other).length).toBeGreaterThan(3);
    await second.stop();
    expect(await session).toBe('cut');
    expect(processesOf(other)).toEqual([]);
    expect(await ssh(cluster.nodes[0]!, 'echo here')).toBe('here\n');
  } finally {
    await second.stop();
    rmSync(other, { recursive: true, force: true });
  }
});
