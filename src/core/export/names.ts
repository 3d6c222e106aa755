// Names of figures and settings as every tracker takes them.

/** Characters of a name; MLflow takes no more. */
const mostCharacters = 250;

/**
 * Letters, digits, `_`, `-`, `.`, blanks and `/` stay; anything else becomes `_`. No part between
 * two slashes is empty, `.` or `..`.
 */
export function trackerName(text: string): string {
  const parts = text
    .replace(/[^\w\-. /]/gu, '_')
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => (/^\.+$/.test(part) ? '_'.repeat(part.length) : part));
  return (
    parts
      .join('/')
      .slice(0, mostCharacters)
      .replace(/[/ ]+$/, '') || '_'
  );
}

/** Gives each of several texts a name of its own, in the order in which they are first seen. */
export class Names {
  private readonly given = new Map<string, string>();
  private readonly taken = new Set<string>();

  of(text: string): string {
    const known = this.given.get(text);
    if (known !== undefined) return known;
    const plain = trackerName(text);
    let name = plain;
    for (let number = 2; this.taken.has(name); number++) {
      const ending = `_${number}`;
      name = `${plain.slice(0, mostCharacters - ending.length)}${ending}`;
    }
    this.given.set(text, name);
    this.taken.add(name);
    return name;
  }
}
