// The entries that package.json contributes to the menus of our views, by a key that says which one
// is meant: `runs run.over inline cloneRun`, `clusters title refresh`.
import manifest from '../../../package.json' with { type: 'json' };

type Place = 'inline' | 'menu' | 'title' | 'more';

export interface Entry {
  key: string;
  /** `clusters`, `runs` or `checkpoints`. */
  view: string;
  /** `inline`: a button of the row. `title`: one of the view. `more`: behind the view's three dots. */
  place: Place;
  title: string;
  group: string;
  when: string;
}

const { commands, menus } = manifest.contributes;
const titles = new Map(commands.map(({ command, title }) => [command, title]));
const viewOf = (when: string): string => /view == trainyard\.(\w+)/.exec(when)?.[1] ?? '';
const shortName = (command: string): string => command.replace('trainyard.', '');

/** `run.over` of `viewItem == run.over`, `profile.(own|ssh)` of `viewItem =~ /^profile\.(own|ssh)\./`. */
const kindOf = (when: string): string =>
  (/viewItem =[=~] (\S+)/.exec(when)?.[1] ?? '').replace(/[\\^$/]/g, '').replace(/\.$/, '');

interface Contributed {
  command: string;
  when: string;
  group: string;
}

function entryOf({ command, when, group }: Contributed, item: boolean): Entry {
  const place = item
    ? group.startsWith('inline')
      ? 'inline'
      : 'menu'
    : group.startsWith('navigation')
      ? 'title'
      : 'more';
  const view = viewOf(when);
  const key = [view, ...(item ? [kindOf(when)] : []), place, shortName(command)].join(' ');
  return { key, view, place, title: titles.get(command) ?? '', group, when };
}

export const menuEntries: readonly Entry[] = [
  ...menus['view/title'].map((each) => entryOf(each, false)),
  ...menus['view/item/context'].map((each) => entryOf(each, true)),
];

export function entryOfKey(key: string): Entry {
  const found = menuEntries.find((each) => each.key === key);
  if (!found) throw new Error(`package.json contributes no menu entry '${key}'`);
  return found;
}
