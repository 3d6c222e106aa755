// Versions of Python, and what a file says about them (PEP 440): what of it such versions need.

/** Numbers, then what stands before the final version: `3.14.0rc1` is [3, 14, 0] and [2, 1]. */
interface Version {
  release: number[];
  /** Which kind of preview, and its number. Final ones come after all of them. */
  preview: [number, number];
}

const form = /^(\d{1,9}(?:\.\d{1,9})*)(?:(a|b|rc)(\d{1,9}))?(?:\+[\w.]*)?$/;
const clause = /^(~=|===?|!=|<=|>=|<|>)\s*([^\s*]+?)(\.\*)?$/;
const final: [number, number] = [3, 0];

function versionOf(text: string): Version | undefined {
  const [, release, kind, number] = form.exec(text.trim()) ?? [];
  if (release === undefined) return undefined;
  const preview: [number, number] =
    kind === undefined ? final : [['a', 'b', 'rc'].indexOf(kind), Number(number)];
  return { release: release.split('.').map(Number), preview };
}

/** Whether a text is a version as these functions compare them. */
export const isVersion = (text: string): boolean => versionOf(text) !== undefined;

/** Below 0 where `one` comes first, 0 for the same. `3.10` is `3.10.0`. */
function difference(one: Version, other: Version): number {
  const length = Math.max(one.release.length, other.release.length);
  for (let at = 0; at < length; at += 1) {
    const apart = (one.release[at] ?? 0) - (other.release[at] ?? 0);
    if (apart !== 0) return apart;
  }
  return one.preview[0] - other.preview[0] || one.preview[1] - other.preview[1];
}

/** Whether a version begins with the numbers of another one. */
const begins = ({ release }: Version, { release: first }: Version): boolean =>
  first.every((number, at) => (release[at] ?? 0) === number);

/** `>=3.9,<3.13` of a version. Undefined where one of the two is not understood. */
export function satisfies(text: string, specifiers: string): boolean | undefined {
  const version = versionOf(text);
  const clauses = specifiers.split(',').map((one) => one.trim());
  const held = clauses.filter((one) => one !== '').map((one) => version && holds(version, one));
  return held.includes(undefined) ? undefined : !held.includes(false);
}

function holds(version: Version, text: string): boolean | undefined {
  const [, operator = '', number = '', wild] = clause.exec(text) ?? [];
  const wanted = versionOf(number);
  if (!wanted) return undefined;
  if (wild !== undefined) {
    if (operator !== '==' && operator !== '!=') return undefined;
    return begins(version, wanted) === (operator === '==');
  }
  const apart = difference(version, wanted);
  // A preview of 3.13 does not come before 3.13 for `<3.13`.
  const isItsPreview = version.preview[0] < final[0] && wanted.preview[0] === final[0];
  const same = { ...version, preview: final };
  const series = { ...wanted, release: wanted.release.slice(0, -1) };
  const answers: Readonly<Record<string, boolean | undefined>> = {
    '==': apart === 0,
    '===': apart === 0,
    '!=': apart !== 0,
    '<=': apart <= 0,
    '>=': apart >= 0,
    '<': apart < 0 && !(isItsPreview && difference(same, wanted) === 0),
    '>': apart > 0,
    '~=': series.release.length === 0 ? undefined : apart >= 0 && begins(version, series),
  };
  return answers[operator];
}
