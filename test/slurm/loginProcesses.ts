// What runs on the login node of the practice Slurm, which is this machine: what its sshd started,
// and what that started in turn. What a slurmd started is in a mount namespace of its own.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Of the times in /proc/PID/stat: one tick is 10 ms. */
const ticksPerSecond = 100;

interface LoginProcess {
  name: string;
  /** Seconds of CPU time, with those of children that have ended. */
  seconds: number;
}

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // it has ended
  }
};

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it has ended
  }
}

function namespaceOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return undefined; // it has ended
  }
}

/** Seconds of CPU time of the threads that live, counted in nanoseconds. */
function ofThreads(pid: string): number {
  const times = readNames(`/proc/${pid}/task`).map((thread) =>
    Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e9;
}

/** Undefined for a process that has ended, or that is none of the login node's. */
function look(pid: string, configuration: string): LoginProcess | undefined {
  const environment = read(`/proc/${pid}/environ`)?.split('\0') ?? [];
  const isOfSession = environment.some((line) => line.startsWith('SSH_CONNECTION='));
  if (!isOfSession || !environment.includes(`SLURM_CONF=${configuration}`)) return undefined;
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined || namespaceOf(pid) !== namespaceOf('self')) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ofChildren = (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
  const program = read(`/proc/${pid}/cmdline`)?.split('\0')[0] ?? '';
  return { name: basename(program), seconds: ofThreads(pid) + ofChildren };
}

/** Of all processes, those with a word that ends so, and whether they run on the login node. */
export function processesWith(ending: string): { words: string[]; isOnLoginNode: boolean }[] {
  return readNames('/proc').flatMap((pid) => {
    const words = /^\d+$/.test(pid) ? (read(`/proc/${pid}/cmdline`)?.split('\0') ?? []) : [];
    if (!words.some((word) => word.endsWith(ending))) return [];
    return [{ words, isOnLoginNode: namespaceOf(pid) === namespaceOf('self') }];
  });
}

/** The processes of sessions on the login node of the Slurm with this slurm.conf. */
export class LoginProcesses {
  constructor(private readonly configuration: string) {}

  /**
   * Which programs were seen within so many seconds, and which share of a core they took. One that
   * ended counts with what it had when it was seen last, and with what its parent has of it.
   */
  async watch(seconds: number): Promise<{ names: string[]; share: number }> {
    const before = this.all();
    const last = new Map(before);
    const names = new Set<string>();
    const began = performance.now();
    while (performance.now() < began + seconds * 1000) {
      for (const [pid, found] of this.all()) {
        last.set(pid, found);
        if (found.name !== '') names.add(found.name);
      }
      await pause(50);
    }
    const took = (performance.now() - began) / 1000;
    let used = 0;
    for (const [pid, found] of last) used += found.seconds - (before.get(pid)?.seconds ?? 0);
    return { names: [...names].sort(), share: used / took };
  }

  private all(): Map<string, LoginProcess> {
    const found = new Map<string, LoginProcess>();
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const one = look(pid, this.configuration);
      if (one) found.set(pid, one);
    }
    return found;
  }
}
