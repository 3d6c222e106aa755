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
    // gpu, gpu:4, gpu:a100, gpu:a100:4
    const found = /^(?:gres[:/])?gpu(?::([^:\d][^:]*))?(?::(\d+))?$/.exec(part.trim());
    if (!found) continue;
    const [, type = '', count = '1'] = found;
    counts.set(type, (counts.get(type) ?? 0) + Number(count));
  }
  return [...counts].map(([type, count]) => ({ type, count }));
}
