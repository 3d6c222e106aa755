// Fault 18: a day's events in a short time. What a client, the agent that serves it and the
// supervisor hold is the same at the end as soon after the beginning: memory, descriptors, timers,
// channels.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SshMachine } from '../../src/core/cluster/sshMachine.js';
import { TcpProxy } from '../sshd/support/tcpProxy.js';
import type { Figures } from '../cluster/support/client.js';
import { ClientProcess } from '../cluster/support/clientProcess.js';
import { practiceHosts, type FaultHosts } from '../cluster/support/hosts.js';
import {
  eventsOf,
  endless,
  measured,
  seconds,
  startRun,
  stateOf,
  training,
} from '../cluster/support/runs.js';

const root = join(import.meta.dirname, '../..');
/** Lines of metrics: one a second for a day. */
const wanted = 86_400;
/**
 * Milliseconds that it takes at least; the first quarter is for tables that fill and code that is
 * compiled.
 */
const length = 30 * 60_000;
const between = 5000;
/** Agents that serve: one for each of three connections, and one that a cut has just ended. */
const mostServing = 4;

let hosts: FaultHosts;
let machine: SshMachine;
const clients: ClientProcess[] = [];
const links: TcpProxy[] = [];
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 1 });
  machine = hosts.machine();
});
afterAll(async () => {
  for (const client of clients) await client.stop();
  for (const link of links) await link.stop();
  await hosts.stop();
});

/** Resident kilobytes and descriptors of a process on the node. */
interface Held {
  resident: number;
  descriptors: number;
}

function heldBy(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const resident = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN);
  return { resident, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** Every `agent serve` and `agent supervise` of this test's home, by pid. */
function agents(home: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const [program = '', verb = ''] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const asksForFigures = readFileSync(`/proc/${name}/comm`, 'utf8').trim() === 'agent figures'; // the child of one
      if (program.startsWith(home) && ['serve', 'supervise'].includes(verb) && !asksForFigures)
        found.set(Number(name), verb);
    } catch {
      // it ended meanwhile
    }
  }
  return found;
}

/** The least of several looks, between which what is merely under way comes to its end. */
async function atRest(client: ClientProcess): Promise<Figures> {
  const looks: Figures[] = [];
  for (let look = 0; look < 8; look++) {
    looks.push(await client.figures());
    await sleep(300);
  }
  const least = (of: (figures: Figures) => number): number => Math.min(...looks.map(of));
  const kinds = new Set(looks.flatMap(({ resources }) => Object.keys(resources)));
  return {
    used: least(({ used }) => used),
    resident: least(({ resident }) => resident),
    descriptors: least(({ descriptors }) => descriptors),
    resources: Object.fromEntries(
      [...kinds].map((kind) => [kind, least(({ resources }) => resources[kind] ?? 0)]),
    ),
  };
}

const serving = (): number =>
  [...agents(hosts.homes[0] ?? '').values()].filter((verb) => verb === 'serve').length;

/** An agent whose link was cut ends once sshd has noticed: a moment after the last cut. */
async function untilCutOnesEnded(): Promise<void> {
  for (const deadline = Date.now() + 30_000; serving() > mostServing && Date.now() < deadline;)
    await sleep(200);
}

/** A whole look at what is held: by the clients, and on the node. */
async function look(): Promise<{ figures: Figures[]; agents: Map<number, Held & { verb: string }> }> {
  const figures: Figures[] = [];
  for (const client of clients) figures.push(await atRest(client));
  const held = [...agents(hosts.homes[0] ?? '')].map(
    ([pid, verb]) => [pid, { verb, ...heldBy(pid) }] as const,
  );
  return { figures, agents: new Map(held) };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const counted = (dir: string): number =>
  readFileSync(join(dir, 'metrics.jsonl'), 'latin1').split('\n').length - 1;

test(`${wanted} lines of metrics, cuts and channels leave nothing behind`, async () => {
  const words = training(endless, '--log-every', '1', '--checkpoint-every', '500', '--keep', '2');
  const dir = await startRun(machine, hosts.profile, words);
  const [head] = hosts.profile.hosts ?? [];
  const link = await TcpProxy.start({ host: head?.host ?? '', port: head?.port ?? 0 });
  links.push(link);
  const around = { ...hosts.profile, hosts: [{ ...head!, host: '127.0.0.1', port: link.port }] };
  const setup = { home: hosts.trainyardHome, bundleDir: join(root, 'dist'), dir };
  const steady = await ClientProcess.start({ ...setup, profile: hosts.profile });
  const flapping = await ClientProcess.start({ ...setup, profile: around });
  clients.push(steady, flapping);
  for (const client of clients) await client.following(0, 0, 90);

  const began = Date.now();
  let uses = 0;
  let cuts = 0;
  const soak = async (until: () => boolean): Promise<void> => {
    while (!until()) {
      await steady.use();
      uses++;
      link.cut();
      cuts++;
      await sleep(between);
      await flapping.following(0, Date.now(), 90);
    }
    for (const client of clients) await client.following(0, Date.now(), 90);
  };
  await soak(() => Date.now() - began > length / 4 && counted(dir) > wanted / 4);
  const first = await look();
  await soak(() => Date.now() - began > length && counted(dir) > wanted);
  await untilCutOnesEnded();
  const last = await look();
  const took = Date.now() - began;
  const checkpoints = eventsOf(dir).filter(({ kind }) => kind === 'checkpoint').length;
  const supervisor = stateOf(dir)?.supervisor.pid ?? 0;
  await machine.stop(dir, 'now');

  measured(
    18,
    `${counted(dir)} lines, ${checkpoints} checkpoints, ${cuts} cuts, ${uses} uses in ${seconds(took)}`,
  );
  for (const [index, before] of first.figures.entries()) {
    const after = last.figures[index]!;
    const text = (figures: Figures): string =>
      `${megabytes(figures.used)} in use, ${megabytes(figures.resident)} resident, ${figures.descriptors} descriptors, ` +
      JSON.stringify(figures.resources);
    measured(18, `${index === 0 ? 'steady' : 'cut'} client: ${text(before)}; then ${text(after)}`);
  }
  const stayed = [...last.agents].filter(([pid]) => first.agents.has(pid));
  for (const [pid, now] of stayed) {
    const then = first.agents.get(pid)!;
    measured(
      18,
      `agent ${now.verb}: ${then.resident} kB, ${then.descriptors} descriptors; then ${now.resident} kB, ${now.descriptors}`,
    );
  }

  for (const [index, before] of first.figures.entries()) {
    const after = last.figures[index]!;
    expect(after.used, 'memory in use').toBeLessThan(before.used * 1.1);
    expect(after.descriptors, 'descriptors').toBeLessThanOrEqual(before.descriptors + 2);
    for (const [kind, count] of Object.entries(after.resources))
      expect(count, kind).toBeLessThanOrEqual((before.resources[kind] ?? 0) + 2);
  }
  // The one that serves the steady client, and the supervisor, with its guard.
  expect(stayed.map(([pid]) => pid)).toContain(supervisor);
  expect(stayed.filter(([, { verb }]) => verb === 'serve').length).toBeGreaterThan(0);
  for (const [pid, { resident, descriptors }] of stayed) {
    expect(resident, `resident kB of ${pid}`).toBeLessThan(first.agents.get(pid)!.resident * 1.1);
    expect(descriptors, `descriptors of ${pid}`).toBeLessThanOrEqual(first.agents.get(pid)!.descriptors + 1);
  }
  // A client of its own for each of the three connections, and no more: what was cut has gone.
  expect([...last.agents.values()].filter(({ verb }) => verb === 'serve').length).toBeLessThanOrEqual(
    mostServing,
  );
});
