// Ranks and hosts in one line for people, however many they are.

/** Numbers that follow one another, from which on only the first and the last are written. */
const shortestRange = 3;
/** Hosts that are all named. */
const mostHosts = 4;

/** `rank 3`, `ranks 0, 2`, or `ranks 0-63, 70` for numbers in ascending order. */
export function ranksText(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let first = 0; first < numbers.length;) {
    let end = first + 1;
    while (end < numbers.length && numbers[end] === (numbers[end - 1] ?? 0) + 1) end += 1;
    if (end - first < shortestRange) end = first + 1;
    const [from, to] = [numbers[first], numbers[end - 1]];
    parts.push(from === to ? String(from) : `${from}-${to}`);
    first = end;
  }
  return `${numbers.length === 1 ? 'rank' : 'ranks'} ${parts.join(', ')}`;
}

/** `gpu1, gpu2`, and of many `gpu1, gpu2, gpu3 and 29 more`. */
export function hostsText(hosts: readonly string[]): string {
  const named = hosts.length <= mostHosts ? hosts : hosts.slice(0, mostHosts - 1);
  const text = named.join(', ');
  return named.length === hosts.length ? text : `${text} and ${hosts.length - named.length} more`;
}
