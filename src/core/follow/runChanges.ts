// What happens to runs between two looks at their list: each change is reported once.
import type { AgentClient } from '../agent/agentClient.js';
import { lastEvents } from '../agent/journal.js';
import { DisposableStore, Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import type { Logger } from '../base/log.js';
import type { RunEvent } from '../contracts/runSchema.js';
import { eventText, failed } from '../model/marks.js';
import { isUnderWay, reasonOf, type RunStatus } from '../model/runStatus.js';
import { startsBy } from '../model/starts.js';
import type { RunOverview } from './overview.js';
import type { ProfileRuns, RunsMonitor } from './runsMonitor.js';

/** Bytes at the end of the journal that are read for the reason of a restart. */
const journalBytes = 64 * 1024;

/**
 * What a run did. `interrupted`: its supervisor is gone without having said how it ended.
 * `restarting`: the supervisor has said that a restart follows. `restarted`: it came, and nobody saw
 * it announced.
 */
export type RunChangeKind =
  'finished' | 'failed' | 'stopped' | 'interrupted' | 'restarting' | 'restarted' | Trouble;

/** What a run may live through, or not. */
type Trouble = 'stalled' | 'node-lost' | 'disk-low' | 'budget' | 'bad-images';

/** One change of one run. `why` is one line for people, where something says it. */
export interface RunChange {
  kind: RunChangeKind;
  profile: string;
  run: RunOverview;
  why: string | undefined;
}

interface Seen {
  status: RunStatus;
  generation: number;
  /** How often somebody resumed it, which they know. */
  resumes: number;
  trouble: Trouble | undefined;
  restarting: boolean;
  /** The generation in which a trouble was reported that may end it, or its restart. */
  reportedIn: number;
  /** Whether bad images were reported: they are the same ones in every epoch and generation. */
  hadBadImages: boolean;
}

/**
 * Compares each look of a monitor with the one before. What the first look at a profile finds is no
 * change. Runs that began and ended between two looks are reported as well.
 */
export class RunChanges implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<RunChange>());
  private readonly seen = new Map<string, Map<string, Seen>>();

  readonly onChange: Event<RunChange> = this.changes.event;

  /** `client` is asked for the agent of a profile when a run was started again. */
  constructor(
    monitor: Pick<RunsMonitor, 'onChange'>,
    private readonly client: (profile: string) => Promise<AgentClient>,
    private readonly logger: Logger,
  ) {
    this.store.add(
      monitor.onChange((lists) => {
        for (const list of lists) this.compare(list);
      }),
    );
  }

  dispose(): void {
    this.store.dispose();
  }

  private compare({ profile, runs, seen }: ProfileRuns): void {
    if (seen === undefined) return; // it was not looked at yet, which is not the same as no runs
    const before = this.seen.get(profile);
    const newest = before && [...before.keys()].sort().at(-1);
    const after = new Map(runs.map((run) => [run.entry.id, seenAfter(before?.get(run.entry.id), run)]));
    this.seen.set(profile, after);
    if (before === undefined) return;
    for (const run of runs) {
      const { id } = run.entry;
      const isNew = newest === undefined || id > newest; // ids sort by time
      const then = before.get(id) ?? (isNew ? unseen : undefined);
      const kind = changeKind(then, seenOf(run));
      if (kind === 'restarted') void this.reportRestart(profile, run);
      else if (kind !== undefined) {
        this.changes.fire({ kind, profile, run, why: whyOf(kind, run) });
      }
    }
  }

  private async reportRestart(profile: string, run: RunOverview): Promise<void> {
    let why: string | undefined;
    try {
      why = whyRestarted(await this.journalEnd(profile, run), seenOf(run).generation);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.logger.log('warn', `${run.entry.id}: why it was started again could not be read: ${text}`);
    }
    this.changes.fire({ kind: 'restarted', profile, run, why });
  }

  private async journalEnd(profile: string, { entry }: RunOverview): Promise<RunEvent[]> {
    const client = await this.client(profile);
    return lastEvents(client, await client.request('run.get', { dir: entry.dir }), journalBytes);
  }
}

function whyOf(kind: RunChangeKind, { entry, health, restarting }: RunOverview): string | undefined {
  if (isTrouble(kind)) return health.text;
  if (kind === 'restarting') return restarting === '' ? undefined : restarting;
  return reasonOf(entry) ?? undefined;
}

const unseen: Seen = {
  status: 'starting',
  generation: 1,
  resumes: 0,
  trouble: undefined,
  restarting: false,
  reportedIn: 0,
  hadBadImages: false,
};

const troubles: Record<Trouble, true> = {
  stalled: true,
  'node-lost': true,
  'disk-low': true,
  budget: true,
  'bad-images': true,
};
const isTrouble = (kind: string): kind is Trouble => Object.hasOwn(troubles, kind);

const seenOf = ({ status, entry, health, restarting }: RunOverview): Seen => ({
  status,
  generation: entry.state?.generation ?? 0,
  resumes: startsBy(entry.run, entry.state).resumes.length,
  trouble: isTrouble(health.kind) ? health.kind : undefined,
  restarting: restarting !== undefined,
  reportedIn: 0,
  hadBadImages: health.kind === 'bad-images',
});

/** With what was reported of the run before. */
function seenAfter(before: Seen | undefined, run: RunOverview): Seen {
  const now = seenOf(run);
  const endsGeneration = now.trouble === 'stalled' || now.trouble === 'node-lost' || now.restarting;
  return {
    ...now,
    reportedIn: endsGeneration ? now.generation : (before?.reportedIn ?? 0),
    hadBadImages: now.hadBadImages || before?.hadBadImages === true,
  };
}

function changeKind(before: Seen | undefined, now: Seen): RunChangeKind | undefined {
  if (before === undefined || !isUnderWay(before.status)) return undefined;
  switch (now.status) {
    case 'finished':
    case 'failed':
    case 'stopped':
    case 'interrupted':
      return now.status;
    case 'unknown':
    case 'queued':
      return undefined;
    case 'starting':
    case 'running':
    case 'stopping':
    case 'evaluating':
      // One notification for one cause: the trouble that led to the restart was reported.
      if (now.generation > before.generation) {
        if (now.resumes > before.resumes) return undefined;
        return before.reportedIn === before.generation ? undefined : 'restarted';
      }
      if (now.trouble !== undefined && now.trouble !== before.trouble) return troubleOf(before, now);
      return now.restarting && before.reportedIn !== now.generation ? 'restarting' : undefined;
  }
}

function troubleOf(before: Seen, { trouble }: Seen): Trouble | undefined {
  return trouble === 'bad-images' && before.hadBadImages ? undefined : trouble;
}

/**
 * Why the generation before this one ended, in one line: what the supervisor said, else the first
 * event of that generation that ends a generation. Undefined where `events` hold none.
 */
export function whyRestarted(events: readonly RunEvent[], generation: number): string | undefined {
  const last = events.filter((event) => event.generation === generation - 1);
  for (const event of last) if (event.kind === 'restarting' && event.reason !== null) return event.reason;
  const causes = [
    last.find(({ kind }) => kind === 'hang'),
    last.find(({ kind }) => kind === 'node_lost'),
    last.find((event) => event.kind === 'rank_exited' && failed(event)),
  ];
  const cause = causes.find((event) => event !== undefined);
  return cause && eventText(cause);
}
