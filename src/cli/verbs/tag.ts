import { visible } from '../../core/base/visible.js';
import { exitCodes, UserError } from '../../core/base/errors.js';
import type { RunAbout } from '../../core/contracts/runSchema.js';
import { aboutOf, tagsOf } from '../../core/plan/request/about.js';
import type { Args } from '../args.js';
import type { Verb } from '../context.js';

/** UserError (usage) for a tag to be removed that is not there, and as `aboutOf`. */
function changed(before: RunAbout, args: Args): RunAbout {
  const added = tagsOf(args.all('tag'));
  const removed = tagsOf(args.all('untag'));
  const missing = removed.find((tag) => !before.tags.includes(tag));
  if (missing !== undefined) {
    const has = before.tags.length === 0 ? 'It has none' : `It has: ${before.tags.join(', ')}`;
    throw new UserError('usage', `the run has no tag ${missing}`, has);
  }
  const tags = [...before.tags, ...added].filter((tag) => !removed.includes(tag));
  return aboutOf({ name: args.value('name'), tags, notes: args.value('notes') }, before);
}

export const tag: Verb = {
  verb: 'tag',
  summary: 'changes or prints the name, tags and notes of a run',
  words: ['RUN'],
  flags: [
    { name: 'name', value: 'NAME', help: 'call the run so; "" takes the name away' },
    { name: 'tag', value: 'TAG', help: 'add this tag; may be given more than once' },
    { name: 'untag', value: 'TAG', help: 'remove this tag; may be given more than once' },
    { name: 'notes', value: 'TEXT', help: 'write these notes in place of those before; "" takes them away' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: ['Without a flag it prints what the run is called. It may be under way or over.'],
  async run(context, args) {
    const { id, dir, about: before } = await context.resolveRun(args);
    const now = before ?? { name: '', tags: [], notes: '' };
    const changes = ['name', 'tag', 'untag', 'notes'].some((flag) => args.has(flag));
    const about = changes ? changed(now, args) : now;
    if (changes) {
      await (await context.node.client()).request('run.describe', { dir, about });
      await context.book.rename(id, about.name);
    }
    if (context.json) {
      context.output.json({ type: 'tagged', id, dir, ...about });
      return exitCodes.done;
    }
    context.output.line(`run    ${id}`);
    if (about.name !== '') context.output.line(`name   ${visible(about.name)}`);
    if (about.tags.length > 0) context.output.line(`tags   ${visible(about.tags.join(', '))}`);
    const notes = about.notes === '' ? [] : about.notes.split('\n');
    for (const [index, line] of notes.entries()) {
      context.output.line(`${index === 0 ? 'notes' : '     '}  ${visible(line)}`);
    }
    return exitCodes.done;
  },
};
