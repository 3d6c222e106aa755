// How a run is shown that nobody has looked at since: its last known state, faded, with its time.
// Nothing here knows the editor.
import { contextValues } from '../../contributions.js';
import { wasActive, type LastSeen, type LastSeenRun } from '../../core/follow/lastSeen.js';
import { duration, percent, plural, seenAgo } from '../figureText.js';
import type { ItemText } from './describe.js';

/** The theme colour of labels and icons. */
export const faded = 'descriptionForeground';

/** `was running 3 h ago · 34%`, `finished · 95.2% · 2 d ago`. */
export function describeLastRun(
  run: LastSeenRun,
  last: LastSeen | undefined,
  now = Date.now() / 1000,
): ItemText {
  const { name, id, dir, status, health, fraction, top1, trained, ended } = run;
  const isOpen = wasActive(run);
  const parts = [
    isOpen ? `was ${status}${last ? ` ${seenAgo(last, now)}` : ''}` : status,
    isOpen && fraction !== undefined ? `${Math.floor(fraction * 100)}%` : '',
    top1 === undefined ? '' : percent(top1) + (trained ? ' training' : ''),
    !isOpen && ended !== undefined ? `${duration(now - ended)} ago` : '',
  ];
  const seen = last ? `As it was on ${new Date(last.at * 1000).toLocaleString()}: ${health}` : health;
  return {
    label: name,
    description: parts.filter((part) => part !== '').join(' · '),
    tooltip: [name === id ? '' : id, seen, dir].filter((line) => line !== '').join('\n'),
    icon: 'history',
    color: faded,
    contextValue: contextValues.lastRun,
  };
}

/** `connect to see · seen 3 h ago`. */
export function describeLastGroup(profile: string, last: LastSeen, now = Date.now() / 1000): ItemText {
  const count = last.runs.filter(wasActive).length;
  const active = count === 0 ? '' : `${plural(count, 'run')} under way then. `;
  return {
    label: profile,
    description: `connect to see · seen ${seenAgo(last, now)}`,
    tooltip: `${active}Runs as they were on ${new Date(last.at * 1000).toLocaleString()}`,
    icon: 'debug-disconnect',
    color: faded,
    contextValue: contextValues.lastRunsOfProfile,
  };
}
