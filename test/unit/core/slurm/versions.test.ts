// The forms of Slurm's programs from 20.11 to 25.05, of one cluster (versions.ts).
import { describe, expect, it } from 'vitest';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { partitionsOf, partitionWords, profileOfPartition } from '../../../../src/core/slurm/partitions.js';
import { parseSacct, parseScontrolJob, parseSqueue } from '../../../../src/core/slurm/queue.js';
import { parseSinfoJson } from '../../../../src/core/slurm/sinfo.js';
import { endedWords } from '../../../../src/core/slurm/words.js';
import { versions } from './versions.js';

describe.each(versions)('Slurm $version', ({ version, sinfo, json, squeue, scontrol, sacct }) => {
  const partitions = partitionsOf(sinfo, json);

  it('its partitions are listed with what is free of them', () => {
    expect(partitions.map(partitionWords)).toEqual([
      '2 of 2 nodes idle; 16 of 16 CPUs free; at most 30 min',
      // 20.11 lists no GPUs in use in this form, so how many are free is not known.
      version === '20.11'
        ? '1 of 3 nodes idle; 12 GPUs (a100); at most 24.0 h'
        : '1 of 3 nodes idle; 5 of 12 GPUs (a100) free; at most 24.0 h',
    ]);
    expect(partitions.map(({ name, isDefault, isUp }) => [name, isDefault, isUp])).toEqual([
      ['debug', true, true],
      ['gpu', false, true],
    ]);
  });

  it('its JSON says the same as its text', () => {
    if (json === null) return;
    expect(parseSinfoJson(json)?.size).toBe(2);
    const ofText = partitionsOf(sinfo, null);
    // Memory differs: the JSON here has one number for each CPU.
    const plain = (list: typeof partitions): unknown => list.map((each) => ({ ...each, memoryPerNode: 0 }));
    expect(plain(partitions)).toEqual(plain(ofText));
  });

  it('its queue is read', () => {
    expect(
      parseSqueue(squeue).map(({ id, state, reason, secondsLeft }) => [id, state, reason, secondsLeft]),
    ).toEqual([
      ['42', 'PENDING', 'Resources', 28_800],
      ['41', 'RUNNING', '', 93_597],
      ['40', 'COMPLETING', '', 0],
    ]);
  });

  it('how a job ended is read, of the controller and of the accounts', () => {
    const shown = parseScontrolJob(scontrol);
    expect(shown).toMatchObject({ id: '39', state: 'OUT_OF_MEMORY', signal: 125, nodes: 'g[1-2]' });
    expect(shown && endedWords(shown)).toBe('it ran out of memory');
    expect(parseSacct(sacct).map((job) => [job.id, endedWords(job)])).toEqual([
      ['37', 'it was cancelled'],
      ['38', 'a node failed'],
      ['39', 'it ran out of memory'],
    ]);
  });
});

describe('partitions', () => {
  it('a node that does not answer, is reserved or is about to boot again counts as taken', () => {
    const text = ['idle*', 'idle$', 'idle@', 'idle', 'idle~', 'maint', 'mixed-']
      .map((state) => `gpu|up|infinite|1|${state}|8|1000|gpu:2|0/8/0/8|gpu:0|`)
      .join('\n');
    // `~`: switched off to save power, and Slurm starts it; `-`: planned for another job.
    expect(partitionsOf(text, null)).toMatchObject([
      { idleNodes: 2, nodes: 7, timeLimit: undefined, gpus: [{ type: '', total: 14, free: 6 }] },
    ]);
  });

  it('a partition that is down says so; lines that are none and other JSON are left out', () => {
    const text =
      'slurm_load_partitions: Unable to contact slurm controller\nold|drain|1:00:00|0|n/a|0|0|(null)|0/0/0/0|\n';
    expect(partitionsOf(text, { jobs: [] }).map(partitionWords)).toEqual([
      'takes no jobs now; 0 of 0 nodes idle; 0 of 0 CPUs free; at most 60 min',
    ]);
  });

  it('become a profile that asks for the GPUs of its nodes, where each of them has some', () => {
    const [debug, gpu] = partitionsOf(versions[4]?.sinfo ?? '', null);
    const slurm = { gres: 'gpu:1', partition: 'old', time: '1:00' };
    const base: Profile = { name: 'b', kind: 'slurm', hosts: [{ host: 'login' }], slurm };
    const of = (partition: typeof gpu) => partition && profileOfPartition(base, 'hpc', partition);
    expect(of(gpu)).toEqual({
      ...{ name: 'hpc', kind: 'slurm', hosts: [{ host: 'login' }] },
      slurm: { partition: 'gpu', time: '1:00', gpusPerNode: 4 },
    });
    expect(of(debug)?.slurm).toEqual({ partition: 'debug', time: '1:00' });
  });
});
