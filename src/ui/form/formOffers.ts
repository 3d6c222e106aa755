// What a profile's machine offers to the run form: the trainer's flags and Slurm's partitions.
import type { Machine } from '../../core/cluster/nodes/machine.js';
import { sitePartitions } from '../../core/cluster/sitePartitions.js';
import { SlurmMachine } from '../../core/cluster/slurmMachine.js';
import type { TrainerFlag } from '../../core/plan/request/trainerHelp.js';
import type { Partition } from '../../core/slurm/partitions.js';

/** By the names of profiles. Without them the form can still be filled in. */
export class FormOffers {
  private readonly flagsOf = new Map<string, readonly TrainerFlag[]>();
  private readonly partitionsOf = new Map<string, readonly Partition[]>();

  /** `onChange`: an answer came. `log`: there was none, so what was offered is typed. */
  constructor(
    private readonly onChange: () => void,
    private readonly log: (what: string, error: unknown) => void,
  ) {}

  /** Undefined while nobody has asked. */
  flags(profile: string): readonly TrainerFlag[] | undefined {
    return this.flagsOf.get(profile);
  }

  partitions(profile: string): readonly Partition[] {
    return this.partitionsOf.get(profile) ?? [];
  }

  askFlags(profile: string, machine: Machine): Promise<void> {
    return this.ask(this.flagsOf, profile, 'no completion of flags', () => machine.trainerFlags('train'));
  }

  async askPartitions(profile: string, machine: Machine): Promise<void> {
    if (!(machine instanceof SlurmMachine)) return;
    const read = async (): Promise<readonly Partition[]> => (await sitePartitions(machine)).partitions;
    await this.ask(this.partitionsOf, profile, 'no partitions', read);
  }

  private async ask<T>(
    known: Map<string, readonly T[]>,
    profile: string,
    without: string,
    read: () => Promise<readonly T[]>,
  ): Promise<void> {
    if (known.has(profile)) return;
    known.set(profile, []); // asked once
    try {
      known.set(profile, await read());
      this.onChange();
    } catch (error) {
      known.delete(profile);
      this.log(without, error);
    }
  }
}
