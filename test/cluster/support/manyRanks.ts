// Runs of more ranks than the machine has cores: at their end ranks finish one after the other,
// over seconds.
import type { RunState } from '../../../src/core/contracts/runSchema.js';
import { eventsOf, startRun, training, untilOver } from './runs.js';
import { practiceHosts, type FaultHosts } from './hosts.js';
import type { Profile } from '../../../src/core/contracts/profileSchema.js';

/** `nodes` hosts with `slots` ranks each. */
export async function crowdedHosts(
  nodes: number,
  slots: number,
): Promise<{ hosts: FaultHosts; profile: Profile }> {
  const hosts = await practiceHosts({ nodes });
  const profile = {
    ...hosts.profile,
    hosts: (hosts.profile.hosts ?? []).map((host) => ({ ...host, slots })),
  };
  return { hosts, profile };
}

export interface Ending {
  state: RunState | null | undefined;
  /** Ranks whose process did not end by itself, with 0. */
  odd: string[];
}

/** A short training on all slots, to its end. */
export async function trainOnAll(hosts: FaultHosts, profile: Profile, limit: number): Promise<Ending> {
  const machine = hosts.machine(profile);
  const ranks = (profile.hosts ?? []).reduce((sum, { slots }) => sum + (slots ?? 1), 0);
  const dir = await startRun(machine, profile, training(20, '--batch-size', '4'), { ranks });
  const { state } = await untilOver(machine, dir, limit);
  const odd = eventsOf(dir)
    .filter((event) => event.kind === 'rank_exited')
    .filter(({ exit_code }) => exit_code !== 0)
    .map((event) => JSON.stringify(event));
  return { state, odd };
}
