import { stageSpec } from '../../../core/stage/spec.js';
import type { Staged } from '../../../core/stage/staging.js';
import { exitCodes } from '../../../core/base/errors.js';
import type { Context, Verb } from '../../context.js';
import { bytesText } from '../../format.js';

/** What was not put there, since it is no file; then what each host got. */
function printStaged(context: Context, to: string, staged: Staged): void {
  const { files, bytes, fromSource, nodes, leftOut, leftOutCount } = staged;
  if (leftOutCount > 0) {
    const more = leftOutCount > leftOut.length ? ` and ${leftOutCount - leftOut.length} more` : '';
    context.output.note(
      `left out, since these are no files, or links to nothing: ${leftOut.join(', ')}${more}`,
    );
  }
  if (context.json) {
    context.output.json({ type: 'staged', to, files, bytes, fromSource, nodes, leftOut, leftOutCount });
    return;
  }
  for (const { host, files, bytes, shared } of nodes) {
    const got = shared
      ? 'sees the same disk'
      : files === 0
        ? 'had everything'
        : `got ${files} ${files === 1 ? 'file' : 'files'}, ${bytesText(bytes)}`;
    context.output.line(`${host}: ${got}`);
  }
  const all = `${files} ${files === 1 ? 'file' : 'files'}, ${bytesText(bytes)}`;
  context.output.line(`${all} in ${to}; ${bytesText(fromSource)} left the source`);
}

export const stage: Verb = {
  verb: 'stage',
  summary: "puts a folder of the head, of another host or of S3 on every host's own disk",
  words: ['P', 'FROM', 'TO'],
  flags: [
    { name: 'hosts', value: 'A,B', help: 'only these hosts; by default all' },
    { name: 'verify', help: 'read what is there already, and compare its sums' },
    { name: 'replace', help: 'write over files in TO that no stage has put there' },
  ],
  details: [
    'FROM is a folder as the head sees it, also on a shared file system; HOST:FROM is one of another host. It is read once, and goes from host to host.',
    "FROM is also s3://BUCKET/PREFIX, or the http:// or https:// address of one file: the head downloads what has changed into TO.fetched. The account is the head's own: AWS_ACCESS_KEY_ID or ~/.aws there, TRAINYARD_HTTP_USER or ~/.netrc.",
    'Given again, it sends what is missing or has changed, and removes from TO what an earlier stage put there and FROM no longer has. One that was killed goes on where it was.',
    'Example: trainyard stage lab /shared/images /scratch/images, then: trainyard run lab -- train --data /scratch/images/train …',
  ],
  async run(context, args) {
    const [name, from = '', to = ''] = args.words;
    const profile = await context.profile(name);
    const spec = stageSpec({ from, to });
    const hosts = args.value('hosts')?.split(',');
    const options = { verify: args.has('verify'), replace: args.has('replace') };
    const { machine } = context;
    const staged = await context.withProgress((progress) =>
      machine.stage(profile, spec, { ...options, ...(hosts ? { hosts } : {}) }, progress),
    );
    printStaged(context, to, staged);
    return exitCodes.done;
  },
};
