// What a terminal shows of a shell in which a typed line starts a program.
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { QuietStart } from '../../../../src/core/follow/quietStart.js';
import { runShellStart } from '../../../../src/core/follow/runShell.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const start = { line: ' exec something\r', mark: '\x1b]7717;cba\x07' };

/** A shell whose program the test plays; what is typed, and what the terminal shows. */
function played() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let disposed = false;
  const closed = new Promise<never>(() => undefined);
  const dispose = (): void => {
    disposed = true;
  };
  const shell = { stdin, stdout, stderr: new PassThrough(), closed, dispose, resize: vi.fn() };
  const quiet = new QuietStart(shell, start, 'hello\r\n', 5000);
  let shown = '';
  quiet.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const says = async (text: string): Promise<string> => {
    stdout.write(text);
    await vi.advanceTimersByTimeAsync(1);
    return shown;
  };
  return { quiet, shell, says, shown: () => shown, isDisposed: () => disposed };
}

it('types the line, and hides all before the mark, wherever that is cut', async () => {
  const { quiet, shell, says } = played();
  expect(String(shell.stdin.read())).toBe(start.line);
  expect(await says(' exec something\r\nmotd\r\n$  exec something')).toBe('');
  expect(await says('\r\n\x1b]7717')).toBe('');
  expect(await says(';cba\x07$ ')).toBe('hello\r\n$ ');
  expect(await says('ü\x1b]7717;cba\x07')).toBe('hello\r\n$ ü\x1b]7717;cba\x07');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await says('!')).toMatch(/^hello\r\n\$ ü.*!$/su);
  quiet.resize(10, 20);
  expect(shell.resize).toHaveBeenCalledWith(10, 20);
});

it('shows everything where the mark does not come in time: a login may ask something', async () => {
  const { says, shown } = played();
  await says('exec something\r\nAccept the terms? ');
  await vi.advanceTimersByTimeAsync(4000);
  expect(shown()).toBe('');
  await vi.advanceTimersByTimeAsync(1001);
  expect(shown()).toBe('exec something\r\nAccept the terms? ');
  expect(await says('no')).toContain('terms? no');
});

it('shows everything where the shell ends before it, and where it says too much', async () => {
  const ended = played();
  await ended.says('python3: not found\r\n');
  ended.shell.stdout.end();
  await vi.advanceTimersByTimeAsync(1);
  expect(ended.shown()).toBe('python3: not found\r\n');
  const loud = played();
  expect(await loud.says('x'.repeat(300_000))).toHaveLength(300_000);
});

it('leaves nothing behind', () => {
  const { quiet, isDisposed } = played();
  quiet.dispose();
  expect(isDisposed()).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it('prints a mark that the typed line does not have', () => {
  const [one, other] = [runShellStart('/r'), runShellStart('/r')];
  expect(one.mark).not.toBe(other.mark);
  expect(one.line).not.toContain(one.mark.slice(7, -1));
});
