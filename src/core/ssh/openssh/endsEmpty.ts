// Whether a connection ended before a byte came.
import type { Socket } from 'node:net';

/** Looks from now on. Nothing is taken from the socket. */
export function endsEmpty(socket: Socket): { isSo(milliseconds: number): Promise<boolean> } {
  let tell: (ended: boolean) => void = () => undefined;
  const told = new Promise<boolean>((resolve) => {
    tell = resolve;
  });
  // `readable` is said of the end too.
  const readable = (): void => {
    tell(socket.readableLength === 0);
  };
  const over = (): void => {
    tell(true);
  };
  socket.on('readable', readable).on('close', over).on('error', over);
  return {
    isSo: async (milliseconds) => {
      const timer = setTimeout(tell, milliseconds, false);
      const ended = await told;
      clearTimeout(timer);
      socket.off('readable', readable).off('close', over).off('error', over);
      return ended;
    },
  };
}
