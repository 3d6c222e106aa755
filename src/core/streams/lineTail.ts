// The last lines of a program's output, for the message when the program ends.

const keptLines = 20;

/** Keeps the last lines of a text that arrives in chunks: at most 20 lines, 16,384 characters. */
export class LineTail {
  private text = '';

  push(chunk: string): void {
    this.text = `${this.text}${chunk}`
      .split('\n')
      .slice(-(keptLines + 1))
      .join('\n')
      .slice(-16_384);
  }

  lines(): string[] {
    return this.text.split('\n').filter((line) => line.trim() !== '');
  }
}
