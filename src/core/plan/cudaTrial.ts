// Whether the trainer can compute on a node's GPUs, by asking it.
import * as z from 'zod/mini';
import { check } from '../base/validation.js';
import type { NodeRuntime } from '../setup/runtime.js';
import { trainerTrial } from './preflight.js';

/** GPUs are counted as NVML does, which is how the profile and the agent count them. */
const countsAsNvml = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };

/** The trial's words on another node, with the variables that ranks have there. */
export function cudaTrial(
  { trainer, nvidia }: Pick<NodeRuntime, 'trainer' | 'nvidia'>,
  env: Record<string, string> = {},
): string[] {
  return onGpus(nvidia, env, [trainer, ...trainerTrial]);
}

/** The variable by which our trainer finds NVIDIA's libraries; none where none were looked for. */
export const librariesOf = ({
  nvidia,
}: {
  nvidia?: readonly string[] | undefined;
}): Record<string, string> => (nvidia === undefined ? {} : { TRAINYARD_NVIDIA_LIBRARIES: nvidia.join(':') });

/** A program's words on a node, with NVIDIA's libraries and these variables. */
export function onGpus(
  nvidia: readonly string[] | undefined,
  env: Record<string, string>,
  argv: readonly string[],
): string[] {
  const variables = Object.entries({ ...librariesOf({ nvidia }), ...env, ...countsAsNvml });
  return ['env', ...variables.map(([name, value]) => `${name}=${value}`), ...argv];
}

const deviceSchema = z.object({
  device: z.string(),
  index: z.optional(z.int()),
  usable: z.boolean(),
  reason: z.optional(z.string()),
});
type ListedDevice = z.infer<typeof deviceSchema>;

/**
 * Why the trainer cannot compute on these GPUs, one line, from what `trainerTrial` printed;
 * undefined where it can.
 */
export function judgeCuda(
  gpus: readonly number[],
  { code, output }: { code: number | null; output: string },
): string | undefined {
  // One that was killed since it did not end has that as its last line.
  const last = code === null ? output.trim().split('\n').at(-1) : undefined;
  if (code !== 0) return last === undefined || last === '' ? 'the trainer does not run' : last;
  const found = output.split('\n').flatMap(listed);
  if (found.length === 0) return 'the trainer says nothing of CUDA';
  const lost = found.find(({ index, usable }) => !usable && (index === undefined || gpus.includes(index)));
  if (lost === undefined) return undefined;
  const reason = lost.reason ?? 'it cannot be used';
  return lost.index === undefined ? reason : `GPU ${lost.index}: ${reason}`;
}

/** Libraries of others may print lines of their own. */
function listed(line: string): ListedDevice[] {
  if (!line.startsWith('{')) return [];
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  const read = check(deviceSchema, value);
  return read.ok && read.data.device === 'cuda' ? [read.data] : [];
}
