// CUDA on this machine: whether our back end computes here, and with which of NVIDIA's libraries.
import type { CheckResult } from '../../base/checks.js';
import { isCancelled, UserError } from '../../base/errors.js';
import { runCommand } from '../../base/processes.js';
import type { Progress } from '../../base/progress.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { cudaTrial, judgeCuda } from '../../plan/cudaTrial.js';
import { checkLocalLibraries, provideLocalLibraries, type LocalCudaOptions } from '../../setup/localCuda.js';
import type { NodeRuntime } from '../../setup/runtime.js';

/** The runtime with its libraries, and why the back end cannot compute with it, where it cannot. */
export interface TriedCuda {
  runtime: NodeRuntime;
  trouble: string | undefined;
}

const namesFolders = (env: Profile['env']): boolean => env?.['TRAINYARD_NVIDIA_LIBRARIES'] !== undefined;

/** `env`: of the process that programs are started from. */
export class LocalCuda {
  constructor(private readonly options: LocalCudaOptions & { env: NodeJS.ProcessEnv }) {}

  /**
   * The row of NVIDIA's libraries; empty where no build of the CUDA back end fits, and where the
   * profile's `env` names their folders. UserError.
   */
  async check(env: Profile['env']): Promise<CheckResult[]> {
    return namesFolders(env) ? [] : checkLocalLibraries(this.options);
  }

  /**
   * The runtime, with the folders of NVIDIA's libraries where a build of the CUDA back end fits.
   * Where the profile's `env` names folders, they stay the only ones. Where libraries cannot be
   * installed, those that are here must do. UserError (preflight), Cancelled.
   */
  async provide(env: Profile['env'], plain: NodeRuntime, progress: Progress): Promise<NodeRuntime> {
    if (namesFolders(env)) return plain;
    try {
      const nvidia = await provideLocalLibraries(this.options, plain.runtimeDir, progress);
      return nvidia === undefined ? plain : { ...plain, nvidia };
    } catch (error) {
      if (!(error instanceof UserError) || isCancelled(error)) throw error;
      if ((await this.troubleOf(plain, env, [])) !== undefined) throw error;
      this.options.logger.log('warn', `${error.message} The libraries that are here are used.`);
      return plain;
    }
  }

  /** The same, tried on these GPUs. UserError (preflight), Cancelled. */
  async tryOn(
    { env, gpus }: { env: Profile['env']; gpus: readonly number[] },
    plain: NodeRuntime,
    progress: Progress,
  ): Promise<TriedCuda> {
    const runtime = await this.provide(env, plain, progress);
    return { runtime, trouble: await this.troubleOf(runtime, env, gpus) };
  }

  private async troubleOf(
    runtime: NodeRuntime,
    env: Profile['env'],
    gpus: readonly number[],
  ): Promise<string | undefined> {
    const [program = '', ...args] = cudaTrial(runtime, env);
    return judgeCuda(gpus, await runCommand(program, args, { env: this.options.env, timeout: 60_000 }));
  }
}
