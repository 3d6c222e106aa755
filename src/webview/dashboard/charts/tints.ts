// Shades of the theme's colours, which come in any notation: the canvas itself knows them all.
import type { Palette } from '../elements/colors.js';

/** So much of a colour on another one. */
export function mixed(color: string, share: number, other: string): string {
  return `color-mix(in srgb, ${color} ${Math.round(share * 100)}%, ${other})`;
}

/** How strong a line as measured is beside its smoothed one. */
export const rawAlpha = ({ dark, highContrast }: Pick<Palette, 'dark' | 'highContrast'>): number =>
  highContrast ? 0.75 : dark ? 0.6 : 0.45;

export const withAlpha = (color: string, alpha: number): string => mixed(color, alpha, 'transparent');
