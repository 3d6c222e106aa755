import { describe, expect, it } from 'vitest';
import { errorWords } from '../../../../src/cli/remedies.js';
import type { Profile } from '../../../../src/core/contracts/profileSchema.js';
import { allocationOf } from '../../../../src/core/slurm/allocation.js';
import { slurmTexts, slurmWishOf } from '../../../../src/core/slurm/wish.js';
import { requestOf } from '../../../../src/core/plan/request/request.js';

const hpc: Profile = {
  name: 'hpc',
  kind: 'slurm',
  hosts: [{ host: 'login' }],
  slurm: { partition: 'gpu', qos: 'normal', time: '8:00:00', gpusPerNode: 4, requeue: true },
};

describe('what one run asks of Slurm', () => {
  it('is read from KEY=VALUE, and written so again', () => {
    const texts = [
      'partition=long',
      'gres=gpu:a100:2',
      'constraint=ib&nvme=2',
      'exclusive=true',
      'requeue=false',
    ];
    const wish = slurmWishOf(texts);
    expect(wish).toEqual({
      ...{ partition: 'long', gres: 'gpu:a100:2', constraint: 'ib&nvme=2', exclusive: true, requeue: false },
    });
    expect(slurmWishOf(slurmTexts(wish))).toEqual(wish);
    expect(slurmWishOf(['qos=a', 'qos=b'])).toEqual({ qos: 'b' });
  });

  it.each([
    ['partition', '"partition" is no KEY=VALUE. Write, say, partition=long'],
    ['=long', '"=long" is no KEY=VALUE. Write, say, partition=long'],
    ['partiton=long', 'a run gives Slurm no "partiton". Did you mean partition?'],
    ['mem=4G', /a run gives Slurm no "mem". Give one of: partition, account, qos, /],
    ['requeue=yes', '"requeue" must be true or false, not "yes". Correct it'],
    ['time=8h', /"8h" is no time limit of Slurm/],
    ['qos=', /"qos" has no value that can stand in a batch script/],
    ['qos=a\nb', /"qos" has no value that can stand in a batch script/],
  ])('%s', (text, expected) => {
    const caught = ((): unknown => {
      try {
        return slurmWishOf([text]);
      } catch (error) {
        return error;
      }
    })();
    const words = errorWords(caught).replace(/\.$/, '');
    if (typeof expected === 'string') expect(words).toBe(expected.replace(/\.$/, ''));
    else expect(words).toMatch(expected);
  });

  it.each(['30', '30:00', '8:00:00', '2-12', '2-12:30', '2-12:30:00', 'UNLIMITED'])(
    'takes the time limit %s, as sbatch does',
    (time) => {
      expect(slurmWishOf([`time=${time}`])).toEqual({ time });
    },
  );

  it('goes before the fields of the profile, and GPUs that it names before its number of them', () => {
    const fields = (slurm: object): object =>
      allocationOf({ profile: hpc, ranks: undefined, nodes: undefined, gpus: undefined, slurm }).fields;
    expect(fields({})).toEqual(hpc.slurm);
    expect(fields({ partition: 'long', requeue: false })).toEqual({
      ...hpc.slurm,
      ...{ partition: 'long', requeue: false },
    });
    expect(fields({ gres: 'nvme:1' })).toMatchObject({ gres: 'nvme:1', gpusPerNode: 4 });
    expect(fields({ gres: 'gpu:a100:2' })).not.toHaveProperty('gpusPerNode');
  });

  it('may be CPUs alone of a profile with GPUs', () => {
    const allocation = (profile: Profile): object =>
      allocationOf({ profile, ranks: 3, nodes: undefined, gpus: undefined, slurm: { gres: 'none' } });
    for (const slurm of [hpc.slurm, { ...hpc.slurm, gpusPerNode: undefined, gres: 'gpu:a100:4' }]) {
      const { fields, ...size } = allocation({ ...hpc, slurm }) as { fields: object };
      expect(size).toMatchObject({ nodes: 3, gpusPerNode: 0 });
      expect(JSON.stringify(fields)).toBe(
        JSON.stringify({ partition: 'gpu', qos: 'normal', time: '8:00:00', requeue: true }),
      );
    }
  });

  it('is refused where there is no Slurm', () => {
    const ask = (profile: Profile): unknown =>
      requestOf({ profile, words: ['true'], cwd: '/', slurm: { qos: 'high' } }).slurm;
    expect(ask(hpc)).toEqual({ qos: 'high' });
    expect(() => ask({ name: 'lab', kind: 'ssh', hosts: [{ host: 'a' }] })).toThrow(
      /asked for qos=high, and profile lab has no queue of Slurm/,
    );
  });
});
