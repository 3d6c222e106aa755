// What happened while nobody looked.
import { duration, percent, plural } from './format.js';
import type { PageModel } from './model.js';

/** Shorter absences are not worth a word. */
const shortest = 5 * 60;

/**
 * `While you were away (9 h): 1 restart, 31 checkpoints, best 74.1%`; undefined when there is
 * nothing to tell.
 */
export function absence(model: PageModel, lastSeen: number | undefined): string | undefined {
  if (lastSeen === undefined || model.now - lastSeen < shortest) return undefined;
  const marks = model.marks.filter(({ time }) => time > lastSeen);
  const of = (...kinds: string[]): number => marks.filter(({ kind }) => kinds.includes(kind)).length;
  const told: string[] = [];
  const tell = (number: number, noun: string): void => {
    if (number > 0) told.push(plural(number, noun));
  };
  tell(of('restart'), 'restart');
  const lost = of('rank-lost');
  if (lost > 0) told.push(`${plural(lost, 'rank')} lost`);
  tell(of('hang'), 'hang');
  tell(of('checkpoint'), 'checkpoint');
  const failed = of('checkpoint-failed');
  if (failed > 0) told.push(`${plural(failed, 'checkpoint')} failed`);
  const tops = model.evaluations.filter(({ time }) => time > lastSeen).map(({ top1 }) => top1);
  if (tops.length > 0) told.push(`best ${percent(Math.max(...tops))}`);
  if (of('end') > 0 && model.head?.over) told.push(`the run ${ending(model.head.status)}`);
  if (told.length === 0) return undefined;
  return `While you were away (${duration(model.now - lastSeen)}): ${told.join(', ')}`;
}

function ending(status: string): string {
  if (status === 'stopped' || status === 'interrupted') return `was ${status}`;
  return status === 'finished' || status === 'failed' ? status : 'ended';
}
