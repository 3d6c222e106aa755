// How long an all-reduce takes by the alpha-beta model: each message costs a latency (alpha), and
// each byte its time on the link (beta).

/** Seconds of one message, and of one byte. */
export interface Link {
  alpha: number;
  beta: number;
}

/** How gradients are added up. `hierarchical`: a ring inside each host, then one between hosts. */
export type Reduction = 'ring' | 'tree' | 'hierarchical';

/** Where the replicas are: hosts are filled one after the other. */
export interface Layout {
  replicas: number;
  hosts: number;
  /** Which the hosts are: fewer where hosts share one, as containers do. Left out: as many. */
  machines?: number | undefined;
}

/** On the fullest host. */
export const replicasOnHost = ({ replicas, hosts }: Layout): number => Math.ceil(replicas / hosts);

/** On the fullest machine: those that share its cores. */
export const replicasOnMachine = ({ replicas, hosts, machines = hosts }: Layout): number =>
  Math.ceil(replicas / machines);

/** Of so many hosts that lie as those of the layout do. Undefined where each host is a machine. */
export const machinesOf = ({ hosts, machines }: Layout, count: number): number | undefined =>
  machines === undefined ? undefined : Math.ceil((count * machines) / hosts);

/** Of a ring: each member sends 2 (n - 1) messages with an n-th of the bytes. */
function ring(members: number, bytes: number, { alpha, beta }: Link): number {
  return 2 * (members - 1) * (alpha + (bytes / members) * beta);
}

/** Of a pipelined tree: the bytes go up and down once, and each level costs its latency. */
function tree(members: number, bytes: number, { alpha, beta }: Link): number {
  return members <= 1 ? 0 : 2 * Math.ceil(Math.log2(members)) * alpha + 2 * bytes * beta;
}

/** Seconds of one all-reduce of that many bytes; 0 for one replica. */
export function allReduceSeconds(
  kind: Reduction,
  layout: Layout,
  bytes: number,
  { inside, between }: { inside: Link; between: Link },
): number {
  if (kind === 'hierarchical') {
    return ring(replicasOnHost(layout), bytes, inside) + ring(layout.hosts, bytes, between);
  }
  const slowest = layout.hosts > 1 ? between : inside;
  const of = kind === 'ring' ? ring : tree;
  return of(layout.replicas, bytes, slowest);
}
