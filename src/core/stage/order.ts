// From whom each node of a stage gets what it lacks.

/** What a node's plan says. */
export interface NodePlan {
  state: 'same' | 'whole' | 'lacks';
  /** How many files it lacks, and their bytes. */
  files: number;
  bytes: number;
}

/**
 * The nodes one behind the other: those that lack nothing, then `first` (which has the source), then
 * the others, each group as it came. Nodes that see the source's own files are not among them.
 */
export function chainOf<T extends { plan: NodePlan }>(nodes: readonly T[], first: T | undefined): T[] {
  const rank = (node: T): number => (node.plan.state === 'whole' ? 0 : node === first ? 1 : 2);
  return nodes.filter(({ plan }) => plan.state !== 'same').sort((left, right) => rank(left) - rank(right));
}

/** Whom the node at `index` of the chain asks, in turn: the one before it, and at last the source. */
export function givers<P>(places: readonly P[], index: number, source: P): P[] {
  return [...places.slice(0, index).reverse(), source];
}

/** `1.2 of 3.0 GB`, in the unit of the whole. */
export function shareText(done: number, whole: number): string {
  const [unit, name] = whole >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  return `${(done / unit).toFixed(1)} of ${(whole / unit).toFixed(1)} ${name}`;
}

/** Nodes that are named in a line of progress. */
const mostNamed = 4;

/** How far the nodes are, in one line. */
export function progressText(
  nodes: readonly { name: string; done: number; bytes: number; isOver: boolean }[],
): string {
  const left = nodes.filter(({ isOver }) => !isOver);
  const behind = left.toSorted((one, other) => one.done / one.bytes - other.done / other.bytes);
  const named = (left.length > mostNamed ? behind : left).slice(0, mostNamed);
  const texts = named.map(({ name, done, bytes }) => `${name} ${shareText(done, bytes)}`);
  const more = left.length > mostNamed ? [`and ${left.length - mostNamed} more`] : [];
  return ['staging', [...texts, ...more].join(', ')].join(' ');
}
