/** `1 node`, `2 nodes`: a number with its noun, for nouns whose plural ends in s. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
