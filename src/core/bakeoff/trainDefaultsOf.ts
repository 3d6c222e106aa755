// The winner of a bake-off as what a profile keeps of it.
import type { Profile } from '../contracts/profileSchema.js';
import { rateText } from '../scaling/pageTables.js';
import { imagesPerSecOf, winnerOf, type BakeOffResult } from './result.js';

/** Undefined where nothing won. */
export function trainDefaultsOf(result: BakeOffResult): Profile['train'] {
  const winner = winnerOf(result);
  const images = winner && imagesPerSecOf(winner);
  if (!winner || !images) return undefined;
  const { ranks, flags } = winner;
  const day = new Date(result.created * 1000).toISOString().slice(0, 10);
  const spread = `${rateText(images.median)} images/s, ${rateText(images.low)} to ${rateText(images.high)}`;
  const tried = result.candidates.filter(({ runs }) => runs.length > 0).length;
  return {
    ranks,
    ...(flags.length === 0 ? {} : { flags }),
    why: `bake-off of ${day}, ${result.model ?? 'a training'}: ${spread}, best of ${tried}`,
  };
}
