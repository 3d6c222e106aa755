import { describe, expect, it } from 'vitest';
import type { RunEntry } from '../../../../src/core/contracts/agentApi.js';
import type { SlurmEnd } from '../../../../src/core/contracts/slurmSchema.js';
import { isEnd, reasonOf, statusOf } from '../../../../src/core/model/runStatus.js';
import { parseScontrolJob, parseSqueue } from '../../../../src/core/slurm/queue.js';
import { endsToKeep, jobsToAsk, withStand, type QueueLook } from '../../../../src/core/slurm/stand.js';
import { endedWords, waitingWords } from '../../../../src/core/slurm/words.js';

/** As the agent lists a run that nobody supervises. */
function entry(
  phase?: string,
  more: { goesOn?: boolean; interrupted?: boolean; ended?: SlurmEnd; reason?: string; staging?: string } = {},
): RunEntry {
  const {
    goesOn,
    ended,
    staging,
    reason = null,
    interrupted = phase === undefined || !['finished', 'stopped', 'failed'].includes(phase),
  } = more;
  const record = { ...(goesOn === undefined ? {} : { goesOn }), ...(ended === undefined ? {} : { ended }) };
  const slurm = { job: '5', requeue: true, layout: [], staging, ...record };
  const state = phase === undefined ? null : { phase, started: 1, updated: 2, reason };
  return { id: 'r', dir: '/r', run: { slurm }, state, interrupted, elsewhere: null } as unknown as RunEntry;
}
const queued = (line: string): QueueLook => ({
  queued: new Map(parseSqueue(line).map((job) => [job.id, job])),
  ahead: new Map([['5', 2]]),
  ended: new Map(),
});
const pending = queued('5|PENDING|2026-11-24T23:04:17|1:00:00|work|1||Priority');
const running = queued('5|RUNNING|2026-11-24T22:04:17|59:57|work|1|n[1-2]|None');
const ended = (state: string): QueueLook => {
  const job = parseScontrolJob(`JobId=5 JobName=r JobState=${state} Reason=None ExitCode=0:0 NodeList=n1`);
  return { queued: new Map(), ahead: new Map(), ended: new Map(job ? [['5', job]] : []) };
};

const nothing: QueueLook = { queued: new Map(), ahead: new Map(), ended: new Map() };

describe('a run that Slurm has', () => {
  it('is queued without nodes, with its place and why', () => {
    const stood = withStand(entry(), pending);
    expect(statusOf(stood)).toBe('queued');
    expect(stood.interrupted).toBe(false);
    expect(stood.queue).toMatchObject({ kind: 'waiting', place: 3, reason: 'Priority', job: '5' });
    expect(stood.queue?.text).toMatch(
      /^place 3 in work; jobs of higher priority come first; Slurm expects a start at 2026-11-2\d \d\d:04$/,
    );
  });

  it('starts while its data is staged, and says how far each node is', () => {
    const stood = withStand(entry(undefined, { staging: 'n1 done, n2 1.2 of 3.0 GB' }), running);
    expect(statusOf(stood)).toBe('starting');
    expect(stood.queue?.text).toBe('job 5, on n[1-2], 60 min left, staging: n1 done, n2 1.2 of 3.0 GB');
  });

  it('starts between its nodes and its first state, and then is what its state says', () => {
    expect(statusOf(withStand(entry(), running))).toBe('starting');
    const old = withStand(entry('running'), running); // a state that this node sees late
    expect(statusOf(old)).toBe('running');
    expect(old.queue).toMatchObject({
      kind: 'running',
      secondsLeft: 3597,
      text: 'job 5, on n[1-2], 60 min left',
    });
  });

  it('that a supervisor holds is not queued by an old look', () => {
    expect(statusOf(withStand(entry('running', { interrupted: false }), pending))).toBe('running');
  });

  it('goes on after Slurm ended it: neither the state before nor its age ends it', () => {
    const before = entry('stopped', { goesOn: true });
    expect(statusOf(withStand(before, pending))).toBe('queued');
    expect(statusOf(withStand(before, running))).toBe('starting');
    expect(jobsToAsk([before, entry('stopped'), entry('finished'), entry()])).toEqual(['5', '5', '5']);
    const cancelled = withStand(before, ended('CANCELLED'));
    expect(statusOf(cancelled)).toBe('stopped');
  });

  it('that is over is left as it is', () => {
    const over = entry('finished');
    expect(withStand(over, pending)).toBe(over);
    const plain = entry('stopped');
    expect(withStand(plain, ended('COMPLETED'))).toBe(plain);
    expect(withStand(plain, running)).toBe(plain); // its job is about to end
    const bySomebody = entry('stopped', { reason: 'cancelled in the queue by ada@laptop' });
    expect(withStand(bySomebody, ended('CANCELLED'))).toBe(bySomebody);
  });

  it('that Slurm stopped or failed says why, from the look or from its record', () => {
    for (const [phase, state, words] of [
      ['stopped', 'NODE_FAIL', 'a node failed'],
      ['failed', 'OUT_OF_MEMORY', 'it ran out of memory'],
      ['stopped', 'TIMEOUT', 'it reached its time limit'],
      ['stopped', 'CANCELLED', 'it was cancelled'],
      ['stopped', 'PREEMPTED', 'a job of higher priority took its nodes'],
    ] as const) {
      const text = `Slurm's job 5 is over: ${words} (${state})`;
      const seen = withStand(entry(phase), ended(state));
      expect(statusOf(seen)).toBe(phase);
      expect(reasonOf(seen)).toBe(text);
      const kept = entry(phase, { ended: { state } });
      expect(jobsToAsk([kept])).toEqual([]);
      expect(reasonOf(withStand(kept, nothing))).toBe(text);
    }
    const both = entry('failed', { ended: { state: 'OUT_OF_MEMORY' }, reason: 'rank 0 was killed' });
    expect(reasonOf(withStand(both, nothing))).toBe(
      "rank 0 was killed. Slurm's job 5 is over: it ran out of memory (OUT_OF_MEMORY)",
    );
    const detail = entry('stopped', { ended: { state: 'NODE_FAIL', detail: 'n2: power lost' } });
    expect(reasonOf(withStand(detail, nothing))).toContain('a node failed (n2: power lost)');
  });

  it('has its end kept once, where its job is over and nobody kept it', () => {
    const kept = (given: RunEntry, look: QueueLook): (string | undefined)[] =>
      endsToKeep([given], look).map((end) => end.ended.state);
    expect(kept(entry('stopped'), ended('NODE_FAIL'))).toEqual(['NODE_FAIL']);
    expect(kept(entry('running'), ended('TIMEOUT'))).toEqual(['TIMEOUT']);
    expect(kept(entry('failed'), nothing)).toEqual(['UNKNOWN']); // Slurm has forgotten it
    expect(kept(entry('running'), nothing)).toEqual([]);
    expect(kept(entry('stopped'), running)).toEqual([]);
    expect(kept(entry('stopped', { goesOn: true }), ended('PREEMPTED'))).toEqual([]);
    expect(kept(entry('stopped', { ended: { state: 'NODE_FAIL' } }), nothing)).toEqual([]);
    expect(kept(entry('finished'), ended('COMPLETED'))).toEqual([]);
  });

  it('that waits again says what took its nodes', () => {
    const before = entry('stopped', { goesOn: true, ended: { state: 'PREEMPTED' } });
    expect(withStand(before, pending).queue?.text).toMatch(
      /^again, since a job of higher priority took its nodes; place 3 in work; /,
    );
  });

  describe('and whose job is cancelled before it begins again', () => {
    const waits = entry('stopped', {
      goesOn: true,
      ended: { state: 'PREEMPTED' },
      reason: 'stopped at once',
    });
    const updated = waits.state?.updated;
    const kept = (look: QueueLook): SlurmEnd[] => endsToKeep([waits], look).map((end) => end.ended);

    it('has that end kept, once the queue has its job no more', () => {
      const how = { exitCode: 0, signal: 0 };
      expect(kept(ended('CANCELLED'))).toEqual([{ state: 'CANCELLED', ...how }]);
      expect(kept(nothing)).toEqual([{ state: 'PREEMPTED' }]); // the last that was heard of it
      for (const look of [pending, running, ended('NODE_FAIL'), ended('PENDING')]) {
        expect(kept(look)).toEqual([]);
      }
      const first = entry('stopped', { goesOn: true });
      expect(endsToKeep([first], nothing).map((end) => end.ended)).toEqual([{ state: 'UNKNOWN', ...how }]);
    });

    it('says why also where Slurm has forgotten the job and nobody kept the end', () => {
      expect(withStand(waits, nothing).queue?.text).toBe(
        "Slurm's job 5 is over: a job of higher priority took its nodes (PREEMPTED)",
      );
    });

    it('is over for who follows it, whatever the start before left, and is asked about no more', () => {
      const end = { state: 'CANCELLED', detail: 'in the queue by ada@laptop' };
      for (const phase of ['stopped', 'finished', 'failed', 'running']) {
        const over = entry(phase, { goesOn: false, ended: end, reason: 'stopped at once' });
        expect(jobsToAsk([over])).toEqual([]);
        expect(endsToKeep([over], nothing)).toEqual([]);
        const stood = withStand(over, nothing);
        expect(stood.queue).toMatchObject({ kind: 'ended', state: 'CANCELLED' });
        expect(isEnd(stood, updated)).toBe(true);
        expect(reasonOf(stood)).toBe(
          "stopped at once. Slurm's job 5 is over: it was cancelled (in the queue by ada@laptop) (CANCELLED)",
        );
      }
      expect(isEnd(withStand(waits, pending), updated)).toBe(false);
      expect(isEnd(withStand(waits, ended('CANCELLED')), updated)).toBe(true);
    });
  });

  it('whose job ended without a word is interrupted, and says why', () => {
    for (const [state, words] of [
      ['TIMEOUT', 'it reached its time limit'],
      ['OUT_OF_MEMORY', 'it ran out of memory'],
      ['NODE_FAIL', 'a node failed'],
      ['PREEMPTED', 'a job of higher priority took its nodes'],
    ] as const) {
      const stood = withStand(entry('running'), ended(state));
      expect(statusOf(stood)).toBe('interrupted');
      expect(stood.queue?.text).toBe(`Slurm's job 5 is over: ${words} (${state})`);
    }
    expect(withStand(entry('running'), nothing).queue?.text).toBe('Slurm no longer knows job 5');
  });
});

describe('the words', () => {
  it('say why a job waits, and lose nothing that they do not know', () => {
    expect(waitingWords('Resources')).toBe('it is next, and waits for nodes to be free');
    expect(waitingWords('')).toBe('Slurm has not looked at it yet');
    expect(waitingWords('QOSMaxGRESPerUser')).toBe(
      'the QOS has as many GPUs for you as it may have (QOSMaxGRESPerUser)',
    );
    expect(waitingWords('AssocGrpCPUMinutesLimit')).toContain('AssocGrpCPUMinutesLimit');
    expect(waitingWords('ReqNodeNotAvail, UnavailableNodes:n[1-2]')).toBe(
      'nodes that it needs are down, drained or reserved (UnavailableNodes:n[1-2])',
    );
    expect(waitingWords('PartitionTimeLimit')).toBe(
      'it asks for more time than the partition allows: it will not start so. Stop it, and ask for something else',
    );
    for (const word of ['QOSMaxCpuPerJobLimit', 'AssocMaxNodePerJobLimit', 'QOSMinGRES', 'BadConstraints']) {
      expect(waitingWords(word), word).toContain('it will not start so');
    }
    for (const word of ['QOSMaxCpuPerUserLimit', 'AssocGrpNodeLimit', 'AssocMaxJobsLimit', 'Priority']) {
      expect(waitingWords(word), word).not.toContain('it will not start so');
    }
    expect(waitingWords('SomethingNew')).toBe('SomethingNew');
  });

  it('say how a job ended', () => {
    const how = { exitCode: 0, signal: 0 };
    expect(endedWords({ state: 'FAILED', exitCode: 3, signal: 0 })).toBe(
      'its script failed with exit code 3',
    );
    expect(endedWords({ state: 'FAILED', exitCode: 0, signal: 9 })).toBe('its script failed by signal 9');
    expect(endedWords({ ...how, state: 'CANCELLED' })).toBe('it was cancelled');
    expect(endedWords({ ...how, state: 'ODD' })).toBe('Slurm calls it ODD');
  });
});
