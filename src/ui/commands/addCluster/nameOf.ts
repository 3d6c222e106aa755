// A name for a new cluster, from those of its hosts.

/** `gpu` of gpu1 and gpu2; of one host its own name; else `cluster`. A number follows where it is taken. */
export function nameOf(hosts: readonly string[], taken: readonly string[]): string {
  const short = hosts.map((host) => (/^[\d.:]+$/.test(host) ? '' : (host.split('.')[0] ?? '')));
  const [first = ''] = short;
  const common = short.reduce((sum, name) => commonStart(sum, name), first);
  const stem = hosts.length === 1 ? common : common.replace(/[\d_-]+$/, '');
  const name = /^[A-Za-z0-9][A-Za-z0-9._-]{1,50}$/.test(stem) ? stem : 'cluster';
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? name : `${name}-${number}`;
    if (!taken.includes(numbered)) return numbered;
  }
}

function commonStart(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return one.slice(0, at);
}
