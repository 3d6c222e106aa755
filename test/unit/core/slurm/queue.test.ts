// What Slurm's programs print. "Recorded" is by slurm-wlm 22.05.8 of scripts/practice/slurm.mjs;
// the rest is written after Slurm's manual pages of the versions named.
import { describe, expect, it } from 'vitest';
import {
  durationOf,
  parseSacct,
  parseScontrolJob,
  parseSqueue,
  timeOf,
} from '../../../../src/core/slurm/queue.js';

describe('squeue', () => {
  const recorded = [
    '2|PENDING|2026-11-24T23:04:17|1:00:00|work|4294901758||Resources',
    '3|PENDING|2026-11-25T00:04:00|1:00:00|work|4294901757||Priority',
    '6|PENDING|N/A|1:00:00|work|4294901755||PartitionNodeLimit',
    '1|RUNNING|2026-11-24T22:04:17|59:57|work|4294901759|n[1-2]|None',
    '',
  ].join('\n');

  it('is read line by line (recorded)', () => {
    const [waiting, , refused, running] = parseSqueue(recorded);
    expect(waiting).toEqual({
      id: '2',
      state: 'PENDING',
      reason: 'Resources',
      start: Date.UTC(2026, 10, 24, 23, 4, 17) / 1000,
      secondsLeft: 3600,
      partition: 'work',
      priority: 4294901758,
      nodes: '',
    });
    expect(refused).toMatchObject({ id: '6', start: undefined, reason: 'PartitionNodeLimit' });
    expect(running).toMatchObject({ state: 'RUNNING', reason: '', secondsLeft: 3597, nodes: 'n[1-2]' });
  });

  it('takes a reason with commas and bars whole, and job numbers of arrays and clusters (20.11 on)', () => {
    const text = [
      '7_[1-3]|PENDING|N/A|UNLIMITED|gpu|1||ReqNodeNotAvail, UnavailableNodes:n[1-2]',
      '8|PENDING|N/A|NOT_SET|gpu|1||odd|reason',
    ].join('\n');
    expect(parseSqueue(text).map(({ id, reason, secondsLeft }) => [id, reason, secondsLeft])).toEqual([
      ['7_[1-3]', 'ReqNodeNotAvail, UnavailableNodes:n[1-2]', undefined],
      ['8', 'odd|reason', undefined],
    ]);
  });

  it('leaves out what is no line of it', () => {
    expect(parseSqueue('slurm_load_jobs error: Unable to contact slurm controller\n\n|||||||\n')).toEqual([]);
  });
});

describe('scontrol show job', () => {
  const recorded =
    'JobId=2 JobName=20261124-222105-mlp-017a UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901758 Nice=0 Account=(null) QOS=(null) JobState=CANCELLED Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:15 RunTime=00:00:00 TimeLimit=01:00:00 TimeMin=N/A SubmitTime=2026-11-24T22:04:16 EligibleTime=2026-11-24T22:04:16 AccrueTime=2026-11-24T22:04:16 StartTime=2026-11-24T23:04:17 EndTime=2026-11-25T00:04:17 Deadline=N/A Partition=work ReqNodeList=(null) ExcNodeList=(null) NodeList=n1 NumNodes=2-2 Comment=JobState=COMPLETED';

  it('tells state, exit and nodes; a comment counts for nothing (recorded)', () => {
    expect(parseScontrolJob(recorded)).toEqual({
      id: '2',
      state: 'CANCELLED',
      reason: '',
      nodes: 'n1',
      exitCode: 0,
      signal: 15,
    });
    expect(parseScontrolJob('slurm_load_jobs error: Invalid job id specified')).toBeUndefined();
  });
});

describe('sacct', () => {
  it('tells the last state of each job (-n -P -X, 20.11 to 25.05)', () => {
    const text = [
      '11|CANCELLED by 1000|0:15|None assigned',
      '12|PREEMPTED|0:0|gpu1',
      '12|TIMEOUT|0:0|gpu2',
      '13|OUT_OF_MEMORY|0:125|gpu[1-2]',
      '14|FAILED|3:0|gpu1',
    ].join('\n');
    expect(parseSacct(text)).toEqual([
      { id: '11', state: 'CANCELLED', exitCode: 0, signal: 15, nodes: '' },
      { id: '12', state: 'TIMEOUT', exitCode: 0, signal: 0, nodes: 'gpu2' },
      { id: '13', state: 'OUT_OF_MEMORY', exitCode: 0, signal: 125, nodes: 'gpu[1-2]' },
      { id: '14', state: 'FAILED', exitCode: 3, signal: 0, nodes: 'gpu1' },
    ]);
    expect(parseSacct('Slurm accounting storage is disabled\n')).toEqual([]);
  });
});

it('times are of UTC, and durations in seconds', () => {
  expect(timeOf('2026-11-24T22:04:17')).toBe(Date.UTC(2026, 10, 24, 22, 4, 17) / 1000);
  expect(timeOf('N/A')).toBeUndefined();
  expect(timeOf('Unknown')).toBeUndefined();
  expect(['2-03:04:05', '3:04:05', '04:05', 'UNLIMITED', 'INVALID'].map(durationOf)).toEqual([
    183_845,
    11_045,
    245,
    undefined,
    undefined,
  ]);
});
