// What the user's SSH configuration and the profile say of hosts; each is a process of ssh, so few
// are asked at once.
import { sshConfig, type SshConfig } from './config.js';
import { readSettings, type ConfigSourceOptions } from './configSource.js';
import { Limiter } from '../base/limiter.js';
import type { SshTarget } from '../base/transport.js';

const atOnce = 8;

/** Reads the configuration of hosts, 8 at once. */
export class ConfigReader {
  private readonly limiter = new Limiter(atOnce);

  constructor(private readonly source: ConfigSourceOptions) {}

  /** UserError (usage, connection), Cancelled. */
  async read(target: SshTarget, signal?: AbortSignal): Promise<SshConfig> {
    const slot = await this.limiter.acquire(signal);
    try {
      return sshConfig(target, await readSettings(target, this.source, signal), this.source.around);
    } finally {
      slot.release();
    }
  }
}
