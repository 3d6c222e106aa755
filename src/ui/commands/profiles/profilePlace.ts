// Where in the text of the profile file a profile, or a field of it, stands.
import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import type { FieldArgument, LineArgument } from '../../../contributions.js';

/**
 * The offset of the field; of its host or profile where it is left out there. Undefined: there is
 * no such profile.
 */
export function offsetIn(text: string, { profile, host, field }: FieldArgument): number | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const entry = tree && named(findNodeAtLocation(tree, ['profiles']), 'name', profile);
  if (!entry) return undefined;
  const owner = host === undefined ? undefined : named(findNodeAtLocation(entry, ['hosts']), 'host', host);
  const found = (owner && member(owner, field)) ?? member(entry, field) ?? (owner && member(owner, 'host'));
  return (found ?? member(entry, 'name') ?? entry).offset;
}

function named(list: Node | undefined, key: string, name: string): Node | undefined {
  return list?.children?.find((each) => findNodeAtLocation(each, [key])?.value === name);
}

/** The property, with its name. */
function member(owner: Node, field: string | undefined): Node | undefined {
  return field === undefined ? undefined : findNodeAtLocation(owner, [field])?.parent;
}

/** Undefined where the text has no such line. */
export function offsetOfLine(text: string, { line }: LineArgument): number | undefined {
  const lines = text.split('\n');
  if (line < 1 || line > lines.length) return undefined;
  return lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
}
