// Numbers that are drawn, the same ones for the same seed on every machine.

/** From 0 up to, and without, 1. */
export type Random = () => number;

/** What a number is drawn from. Both ends may be drawn. */
export interface Range {
  low: number;
  high: number;
  /** Each power of ten is as likely as the other ones. */
  log: boolean;
  whole: boolean;
}

/** Mulberry32: for a choice of settings, and nothing secret. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** As a program reads it: a whole number, or one with four significant digits. */
export function drawNumber({ low, high, log, whole }: Range, random: Random): string {
  const at = random();
  // Every whole number has the same width, the first and the last one too.
  const [from, to] = whole ? [low - (log ? 0 : 0.5), high + (log ? 0 : 0.5)] : [low, high];
  const value = log ? from * (to / from) ** at : from + (to - from) * at;
  const rounded = whole ? Math.round(value) : Number(value.toPrecision(4));
  return String(Math.min(high, Math.max(low, rounded)));
}
