// The client against the real agent, where it is built (npm run build).
import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { AgentClient, AgentError } from '../../../../src/core/agent/agentClient.js';
import { openLocalAgent } from '../../../../src/core/agent/localAgent.js';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { processStartTime } from '../../../../src/core/base/processes.js';
import { FollowedFile, readRemote } from '../../../../src/core/agent/remoteFile.js';
import { RunRegistry } from '../../../../src/core/agent/runRegistry.js';
import { temporaryFolder } from '../../support/temporary.js';

const folder = temporaryFolder();
const root = join(import.meta.dirname, '../../../..');
const agent = join(process.env['TRAINYARD_NATIVE'] ?? join(root, 'build/native/release/node/bin'), 'agent');
const open: { dispose: () => void }[] = [];
afterEach(() => {
  for (const item of open.splice(0)) item.dispose();
});
async function connect(): Promise<AgentClient> {
  const client = await AgentClient.connect(await openLocalAgent(agent));
  open.push(client);
  return client;
}
let count = 0;
const freshPath = (): string => join(folder, `file-${count++}`);
const lineOf = (step: number): string => `${JSON.stringify({ kind: 'step', step, note: 'é🚂' })}\n`;

describe.skipIf(!existsSync(agent))('the real agent', () => {
  it('greets, samples and tells free space as the schemas say', async () => {
    const client = await connect();
    const hello = await client.request('hello');
    expect(hello.cores).toBeGreaterThan(0);
    const sample = await client.request('host.sample');
    expect(sample.host).toBe(hello.host);
    expect(sample.memory_used).toBeLessThan(sample.memory_total);
    expect(Math.abs(sample.time - Date.now() / 1000)).toBeLessThan(60);
    const { free, total } = await client.request('disk.free', { path: nodePath(folder) });
    expect(free).toBeLessThanOrEqual(total);
  });

  it('ends when its client lets go', async () => {
    const client = await connect();
    const { pid } = await client.request('hello');
    client.dispose();
    await expect.poll(() => processStartTime(pid), { timeout: 5000 }).toBeUndefined();
  });

  it('refuses with its own codes, and says what to do', async () => {
    const client = await connect();
    const error: unknown = await client
      .request('run.get', { dir: nodePath(join(folder, 'no-run')) })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ code: 1, method: 'run.get' });
    expect((error as AgentError).message).toContain('no-run');
  });

  it('lists no runs where there are none, and survives a folder that is not one', async () => {
    const client = await connect();
    const workdir = join(folder, 'work');
    const registry = new RunRegistry(() => Promise.resolve(client), nodePath(workdir));
    expect(await registry.list()).toEqual([]);
    mkdirSync(join(workdir, 'runs', '20260101-000000-odd-0000'), { recursive: true });
    writeFileSync(join(workdir, 'runs', '20260101-000000-odd-0000', 'run.json'), '{"version":99}');
    writeFileSync(join(workdir, 'runs', '20260101-000000-odd-0000', 'state.json'), 'not json');
    const [odd] = await registry.list();
    expect(odd).toMatchObject({ id: '20260101-000000-odd-0000', run: null, state: null, interrupted: true });
  });

  it('reads a file larger than one message', async () => {
    const client = await connect();
    const path = freshPath();
    const bytes = Buffer.alloc(700_000, 'abcdefg');
    writeFileSync(path, bytes);
    expect((await readRemote(client, nodePath(path), 0, 1e9)).equals(bytes)).toBe(true);
    expect((await readRemote(client, nodePath(path), 699_995, 100)).length).toBe(5);
    expect((await readRemote(client, nodePath(freshPath()), 0, 10)).length).toBe(0);
  });

  it('follows a file from before it is there, within 100 ms of a write', async () => {
    const client = await connect();
    const path = freshPath();
    const file = new FollowedFile(nodePath(path));
    open.push(file);
    const seen: { text: string; at: number }[] = [];
    file.onLine(({ text }) => seen.push({ text, at: performance.now() }));
    await file.attach(client);
    writeFileSync(path, lineOf(0));
    await expect.poll(() => seen.length).toBe(1);
    const delays: number[] = [];
    for (let step = 1; step <= 10; step++) {
      const written = performance.now();
      appendFileSync(path, lineOf(step));
      await expect.poll(() => seen.length, { interval: 5 }).toBe(step + 1);
      delays.push((seen.at(-1)?.at ?? Infinity) - written);
    }
    expect(seen.map(({ text }) => `${text}\n`).join('')).toBe(
      Array.from({ length: 11 }, (_, step) => lineOf(step)).join(''),
    );
    const median = delays.sort((a, b) => a - b)[5];
    expect(median).toBeLessThan(100);
  });

  it('loses and doubles nothing when it is killed again and again while a file grows', async () => {
    const node = new AgentNode({ open: () => openLocalAgent(agent) });
    open.push(node);
    const path = freshPath();
    writeFileSync(path, '');
    const file = new FollowedFile(nodePath(path));
    open.push(file);
    const offsets: number[] = [];
    let text = '';
    file.onLine((line) => {
      offsets.push(line.offset);
      text += `${line.text}\n`;
    });
    let written = '';
    for (let round = 0; round < 5; round++) {
      const client = await node.client();
      await file.attach(client);
      for (let step = 0; step < 200; step++) {
        const line = lineOf(round * 200 + step);
        written += line;
        appendFileSync(path, line);
        if (step === 150) process.kill((await client.request('hello')).pid, 'SIGKILL');
      }
      await expect.poll(() => client.isClosed, { timeout: 5000 }).toBe(true);
    }
    await file.drain(await node.client());
    expect(text).toBe(written);
    expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b));
  });

  it('tells when a file was replaced', async () => {
    const client = await connect();
    const path = freshPath();
    writeFileSync(path, 'old\n');
    const file = new FollowedFile(nodePath(path));
    open.push(file);
    const seen: string[] = [];
    let resets = 0;
    file.onLine(({ text }) => seen.push(text));
    file.onReset(() => resets++);
    await file.attach(client);
    await expect.poll(() => seen).toEqual(['old']);
    writeFileSync(`${path}.new`, 'new\n');
    renameSync(`${path}.new`, path);
    await expect.poll(() => seen, { timeout: 5000 }).toEqual(['old', 'new']);
    expect(resets).toBe(1);
  });
});
