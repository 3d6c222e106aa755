// Generic resources as sinfo and scontrol print them: `gpu:a100:4(S:0-1),tmp:7T`.

/** GPUs of one type. */
export interface GpuCount {
  /** Empty where the cluster names no types. */
  type: string;
  count: number;
}

/**
 * The GPUs of such a text, each type once. What stands within brackets (sockets, indices) is left
 * out; it may have commas of its own.
 */
export function gpusOf(gres: string): GpuCount[] {
  const counts = new Map<string, number>();
  for (const part of gres.replace(/\([^)]*\)/g, '').split(',')) {
    const found = gpusOfPart(part);
    if (found) counts.set(found.type, (counts.get(found.type) ?? 0) + found.count);
  }
  return [...counts].map(([type, count]) => ({ type, count }));
}

/** Those of one part of such a text; undefined where it stands for something else. */
export function gpusOfPart(part: string): GpuCount | undefined {
  // gpu, gpu:4, gpu:a100, gpu:2080ti:4, gpu:1g.10gb:2: what is digits alone, and last, is the count
  const text = part.replace(/\([^)]*\)/g, '').trim();
  const found = /^(?:gres[:/])?gpu(?::([^:]+?))??(?::(\d+))?$/.exec(text);
  return found ? { type: found[1] ?? '', count: Number(found[2] ?? 1) } : undefined;
}
