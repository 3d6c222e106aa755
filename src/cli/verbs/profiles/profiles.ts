import { exitCodes } from '../../../core/base/errors.js';
import { trainDefaultsText } from '../../../core/plan/trainDefaults.js';
import type { Verb } from '../../context.js';
import { table } from '../../format.js';

export const profiles: Verb = {
  verb: 'profiles',
  summary: 'lists the profiles',
  words: [],
  flags: [],
  details: [
    'They stand in $TRAINYARD_HOME/profiles.json (default ~/.config/trainyard). The profile local is always there.',
  ],
  async run(context) {
    const { profiles: all, broken } = await context.profiles.contents();
    for (const { error } of broken) context.output.note(`trainyard: ${error.message}`);
    const code = broken.length === 0 ? exitCodes.done : exitCodes.usage;
    if (context.json) {
      for (const profile of all) context.output.json({ type: 'profile', ...profile });
      return code;
    }
    const rows = all.map(({ name, kind, hosts }) => [
      name,
      kind,
      (hosts ?? []).map(({ host }) => host).join(', '),
    ]);
    for (const line of table(['PROFILE', 'KIND', 'HOSTS'], rows)) context.output.line(line);
    for (const { name, train } of all) {
      if (train) context.output.line(`trainings on ${name}: ${trainDefaultsText(train)}`);
    }
    return code;
  },
};
