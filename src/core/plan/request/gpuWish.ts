// Which GPUs a person asks for on each node: so many free ones, or these.
import { UserError } from '../../base/errors.js';
import type { Host } from '../../contracts/profileSchema.js';

/** How many GPUs of each node, or exactly these by their numbers. */
export interface GpuWish {
  count: number;
  /** In the order in which ranks take them; undefined where any free ones will do. */
  indices: readonly number[] | undefined;
  /** As it was typed. */
  text: string;
}

const mostGpus = 1024;

/** `2` is any two, `0,2` are these, and `1,` is GPU 1 alone. UserError (usage). */
export function gpuWishOf(text: string, what: string): GpuWish {
  const wrong = (why: string): UserError =>
    new UserError(
      'usage',
      `${what} ${why}`,
      'Give a number of GPUs, such as 2, or their indices, such as 0,2',
    );
  const isList = text.includes(',');
  const words = text.replace(/,$/, '').split(',');
  const numbers = words.map((word) => (/^\d{1,4}$/.test(word) ? Number(word) : Number.NaN));
  if (numbers.some((number) => !(number < mostGpus))) {
    throw wrong(`must be a number of GPUs or a list of indices, not "${text}"`);
  }
  const twice = numbers.find((number, at) => numbers.indexOf(number) !== at);
  if (twice !== undefined) throw wrong(`names GPU ${twice} twice`);
  if (isList) return { count: numbers.length, indices: numbers, text };
  const count = numbers[0] ?? 0;
  if (count < 1) throw wrong(`must ask for at least one GPU, not "${text}"`);
  return { count, indices: undefined, text };
}

/** The GPUs of a node that count for a wish. UserError (usage) for one that is not there. */
export function wishedFrom(
  wish: GpuWish | undefined,
  host: Host,
  there: readonly { index: number }[],
): readonly number[] {
  const missing = wish?.indices?.find((index) => !there.some((gpu) => gpu.index === index));
  if (missing === undefined) return wish?.indices ?? host.gpus ?? there.map(({ index }) => index);
  const has =
    there.length === 0 ? 'no GPU that works' : `the GPUs ${there.map(({ index }) => index).join(', ')}`;
  const what = `${host.host} has no GPU ${missing}: it has ${has}`;
  throw new UserError('usage', what, 'Name others');
}
