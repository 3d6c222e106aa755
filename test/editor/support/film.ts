// What a person does one after the other, how often something is to be answered, and how long each
// takes. Pictures take no time of it.
import type { Workbench } from './workbench.js';

export class Film {
  private readonly taken: { what: string; seconds: number }[] = [];

  constructor(private readonly workbench: Workbench) {}

  /** One answer, command or button; `act` ends once the next question or the end is to be seen. */
  async interaction(what: string, act: () => Promise<void>): Promise<void> {
    const begin = Date.now();
    await act();
    this.taken.push({ what, seconds: (Date.now() - begin) / 1000 });
  }

  shot(name: string): Promise<void> {
    return this.workbench.screenshot(name, 'dark', 1280, 800);
  }

  get interactions(): number {
    return this.taken.length;
  }

  get seconds(): number {
    return this.taken.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** `the hosts 0.4 s, the name 2.1 s`, for who reads a failure. */
  told(): string {
    return this.taken.map(({ what, seconds }) => `${what} ${seconds.toFixed(1)} s`).join(', ');
  }
}
