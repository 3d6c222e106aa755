// Work put off to the next frame, or to the frame after a wait; however often it is asked for, it
// is done once.

export class Frames {
  private frame: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly work: (now: number) => void) {}

  request(wait = 0): void {
    if (this.frame !== undefined) return;
    if (wait > 0) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.request();
      }, wait);
      return;
    }
    clearTimeout(this.timer);
    this.timer = undefined;
    this.frame = requestAnimationFrame((now) => {
      this.frame = undefined;
      this.work(now);
    });
  }
}
