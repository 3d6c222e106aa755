// Hosts files as people have them: Open MPI's and MPICH's machine files, DeepSpeed's, or just a
// host a line.
import { UserError } from '../base/errors.js';
import type { Host } from '../contracts/profileSchema.js';

/**
 * `gpu1 slots=8`, `gpu1:8` (MPICH), `me@gpu1:2222`, `gpu1`; `#` begins a comment; a host named
 * twice has a slot for each time. A number after a colon is a count of processes up to 1023 and a
 * port from 1024 on or beside a user. Of a TensorFlow cluster's `worker|gpu1:2222` the host counts, and
 * role and port become its task. UserError (usage).
 */
export function parseHosts(text: string): Host[] {
  const hosts = new Map<string, Host>();
  text.split('\n').forEach((raw, index) => {
    const line = raw.replace(/#.*/, '').trim();
    if (line === '') return;
    for (const word of line.includes('|') ? line.split(/[\s,]+/) : [line]) {
      const [, role, name, port] = roleForm.exec(word) ?? [];
      const host = parseLine(name ?? word, index + 1);
      if (role !== undefined) host.tasks = [taskOf(role, port, index + 1)];
      const known = hosts.get(host.host);
      if (!known) {
        hosts.set(host.host, host);
        continue;
      }
      known.slots = (known.slots ?? 1) + (host.slots ?? 1);
      if (host.tasks) known.tasks = [...(known.tasks ?? []), ...host.tasks];
    }
  });
  if (hosts.size === 0) throw new UserError('usage', 'no host is named', 'Write a host on each line');
  return [...hosts.values()];
}

/**
 * A file that was written on the cluster calls its leader `localhost`: `leader` is how that one is
 * reached from here, and the others are reached through it. UserError (usage) when it is not said.
 */
export function seenFromHere(hosts: Host[], leader: string | undefined): Host[] {
  const own = hosts.find(({ host, port }) => host === 'localhost' && port === undefined);
  if (!own && leader === undefined) return hosts;
  if (leader === undefined) {
    const what = `the file was written on the cluster's leader, which it calls localhost`;
    throw new UserError('usage', what, 'Say how the leader is reached from here');
  }
  const [first] = parseHosts(leader);
  if (!first) throw new TypeError('a leader was named');
  const others = hosts.filter((host) => host !== own && host.host !== first.host);
  const { user, port } = first;
  const jump = `${user === undefined ? '' : `${user}@`}${first.host}${port === undefined ? '' : `:${port}`}`;
  const slots = own?.slots ?? hosts.find(({ host }) => host === first.host)?.slots;
  return [
    { ...first, ...(slots === undefined ? {} : { slots }) },
    ...others.map((host) => ({
      ...host,
      proxyJump: jump,
      ...(user === undefined ? {} : { user: host.user ?? user }),
    })),
  ];
}

/**
 * `worker|gpu1:2222,ps|gpu2:2222`, as TensorFlow's cluster specifications are written on one line
 * or several.
 */
const roleForm = /^([a-z_]+)\|([^|:\s]+)(?::(\d{1,5}))?$/;

/** As a profile's `tasks` has it. Earlier versions of TensorFlow called the chief master. */
function taskOf(role: string, port: string | undefined, line: number): string {
  const name = role === 'master' ? 'chief' : role;
  if (!['chief', 'worker', 'ps', 'evaluator'].includes(name)) {
    const hint = 'TensorFlow has chief, worker, ps and evaluator';
    throw new UserError('usage', `line ${line} names the role ${role}, which is none`, hint);
  }
  return port === undefined ? name : `${name}:${port}`;
}

const form =
  /^(?:([^@\s]+)@)?([A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:\s+[\w-]+=\S+)*)$/;

function parseLine(line: string, number: number): Host {
  const found = form.exec(line);
  if (!found) {
    throw new UserError(
      'usage',
      `line ${number} names no host: ${line}`,
      'Write host, user@host:port or host slots=N',
    );
  }
  const [, user, name = '', digits, rest = ''] = found;
  const value = digits === undefined ? undefined : Number(digits);
  const isPort = value !== undefined && (user !== undefined || value >= 1024);
  const slots = /\s(?:slots|max_slots|max-slots)=(\d+)/.exec(rest)?.[1];
  const count = slots === undefined ? (isPort ? undefined : value) : Number(slots);
  return {
    host: name.replace(/^\[|\]$/g, ''),
    ...(user === undefined ? {} : { user }),
    ...(isPort ? { port: value } : {}),
    ...(count === undefined || count < 1 ? {} : { slots: count }),
  };
}
