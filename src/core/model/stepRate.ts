// How long a step takes lately, pauses for checkpoints included: for the time that is left.

/** Step lines looked back at. */
const window = 60;

/** How long a step took over the newest step lines of a run. */
export class StepRate {
  private recent: { step: number; time: number }[] = [];

  push({ step, time }: { step: number; time: number }): void {
    this.recent.push({ step, time });
    if (this.recent.length > window) this.recent.shift();
  }

  clear(): void {
    this.recent = [];
  }

  /** Undefined until two different steps were seen. */
  secondsPerStep(): number | undefined {
    const first = this.recent[0];
    const last = this.recent.at(-1);
    if (!first || !last || last.step <= first.step || last.time <= first.time) return undefined;
    return (last.time - first.time) / (last.step - first.step);
  }
}
