// Fault 5: what supervises a run is killed, at every change of its state; and others try to run in
// the same folder.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodePath } from '../../../src/core/base/nodePath.js';
import { agentErrors } from '../../../src/core/contracts/agentApi.js';
import { AgentError } from '../../../src/core/agent/agentClient.js';
import { processesNaming, until } from '../../support/harness.js';
import { form } from '../support/form.js';
import { practiceHosts, type FaultHosts } from '../support/hosts.js';
import {
  detailsOf,
  endless,
  eventsOf,
  measured,
  seconds,
  startRun,
  stateOf,
  training,
  untilOver,
  untilStep,
  Watcher,
} from '../support/runs.js';

let hosts: FaultHosts;
beforeAll(async () => {
  hosts = await practiceHosts({ nodes: 2 });
});
afterAll(() => hosts.stop());

interface Living {
  pid: number;
  parent: number;
  words: string[];
}

function living(): Living[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').slice(0, -1);
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return words.length > 0 ? [{ pid: Number(name), parent, words }] : [];
    } catch {
      return []; // gone meanwhile
    }
  });
}

/** Without their guards, which are children of the same words. */
function supervisorsOf(dir: string): number[] {
  const all = living().filter(({ words }) => words[1] === 'supervise' && words.includes(dir));
  return all.filter(({ parent }) => !all.some(({ pid }) => pid === parent)).map(({ pid }) => pid);
}

/** One rank of a run neither goes on nor ends by itself any more. */
function holdOneRank(dir: string): void {
  const name = dir.split('/').at(-1)!;
  const rank = living().find(
    ({ words }) => words[1] === 'train' && words.some((word) => word.endsWith(name)),
  );
  if (!rank) throw new Error('no rank of the run was found');
  process.kill(rank.pid, 'SIGSTOP');
}

/** Everything of a run on both nodes: its folder has the same name there. */
const aliveOf = (dir: string): string[] =>
  processesNaming(dir.split('/').at(-1)!).filter((line) => !line.includes('vitest'));

const words = (steps: number): string[] =>
  training(steps, '--checkpoint-every', '100', '--eval-data', 'synthetic');

/** Looks without a pause: a state may stand for milliseconds. */
async function killIn(dir: string, phase: string): Promise<number> {
  const deadline = Date.now() + 40_000;
  for (;;) {
    const [pid] = phase === 'created' ? supervisorsOf(dir) : [];
    const state = stateOf(dir);
    const found = pid ?? (state?.phase === phase ? state.supervisor.pid : undefined);
    if (found !== undefined) {
      process.kill(found, 'SIGKILL');
      return Date.now();
    }
    if (Date.now() > deadline) throw new Error(`the run did not come to ${phase}: ${String(state?.phase)}`);
    await new Promise((wake) => setImmediate(wake));
  }
}

describe('a supervisor that is killed', () => {
  test.each(form(['running', 'stopping'], ['created', 'starting', 'running', 'stopping', 'evaluating']))(
    'while %s takes its run along on both nodes, and the folder can be used again, by one',
    async (phase) => {
      const machine = hosts.machine();
      const runDir = join(hosts.homes[0]!, '.trainyard/runs', `killed-${phase}`);
      const starting = startRun(machine, hosts.profile, words(phase === 'evaluating' ? 300 : endless), {
        runDir: nodePath(runDir),
      });
      starting.catch(() => undefined); // killed while it starts, it fails: that is looked at below
      if (phase === 'stopping') {
        await starting;
        await untilStep(runDir, 100);
        holdOneRank(runDir); // else it has stopped before anyone can look
        await machine.stop(nodePath(runDir), 'checkpoint');
      }
      const killedAt = await killIn(runDir, phase);
      await starting.catch((error: unknown) => {
        expect(error).toHaveProperty('code');
      });
      await until(
        `nothing of ${phase} is left: ${aliveOf(runDir).join('; ')}`,
        () => aliveOf(runDir).length === 0,
        40,
      );
      const gone = Date.now() - killedAt;
      const details = await detailsOf(machine, nodePath(runDir));
      expect(details.interrupted).toBe(true);

      const both = await Promise.allSettled([
        startRun(hosts.machine(), hosts.profile, words(300), { runDir: nodePath(runDir) }),
        startRun(hosts.machine(), hosts.profile, words(300), { runDir: nodePath(runDir) }),
      ]);
      const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
      expect(refused).toHaveLength(1);
      expect(refused[0]).toBeInstanceOf(AgentError);
      expect((refused[0] as AgentError).code).toBe(agentErrors.badState);
      expect(supervisorsOf(runDir)).toHaveLength(1);
      const end = await untilOver(machine, nodePath(runDir));
      expect(end.state?.phase).toBe('finished');
      expect(eventsOf(runDir).filter(({ kind }) => kind === 'finished')).toHaveLength(1);
      measured(5, `supervisor killed while ${phase}: nothing left after ${seconds(gone)}`);
    },
  );
});

describe('a run that is alive', () => {
  test('is not taken by another launcher, and survives that every agent of its watchers is killed', async () => {
    const machine = hosts.machine();
    const dir = await startRun(machine, hosts.profile, words(endless));
    const [supervisor] = supervisorsOf(dir);
    const watcher = new Watcher(machine, dir);
    await untilStep(dir, 100);
    await expect(startRun(hosts.machine(), hosts.profile, words(10), { runDir: dir })).rejects.toMatchObject({
      code: agentErrors.badState,
    });
    const serving = living().filter(
      ({ words: [program = '', verb] }) =>
        hosts.homes.some((home) => program.startsWith(home)) && verb === 'serve',
    );
    expect(serving.length).toBeGreaterThanOrEqual(2);
    for (const { pid } of serving) process.kill(pid, 'SIGKILL');
    const killedAt = Date.now();
    const [known, trained] = [watcher.lastStep, Number((await untilStep(dir, 100))['step'])];
    await until('news after it', () => watcher.lastStep > Math.max(known, trained + 200), 20);
    const back = Date.now() - killedAt;
    expect(supervisorsOf(dir)).toEqual([supervisor]);
    expect(eventsOf(dir).filter(({ kind }) => kind === 'started')).toHaveLength(1);
    await machine.stop(dir, 'now');
    expect((await watcher.ended).state?.phase).toBe('stopped');
    measured(5, `agents killed: news again after ${seconds(back)}, the same supervisor`);
  });
});
