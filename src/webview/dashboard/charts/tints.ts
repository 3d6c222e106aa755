// Shades of the theme's colours, which come in any notation: the canvas itself knows them all.

/** So much of a colour on another one. */
export function mixed(color: string, share: number, other: string): string {
  return `color-mix(in srgb, ${color} ${Math.round(share * 100)}%, ${other})`;
}

export const withAlpha = (color: string, alpha: number): string => mixed(color, alpha, 'transparent');
