// What the tab of a comparison is called.

/** Names that stand in a title; of more runs it says how many more. */
const most = 3;

/** `Compare first try, adam`. Two comparisons would look alike by the number of their runs. */
export function compareTitle(names: readonly string[]): string {
  const shown = names.length <= most ? names : names.slice(0, most - 1);
  const more = names.length - shown.length;
  return `Compare ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}
