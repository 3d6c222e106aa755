// Folders of connections whose process and guard were both killed: removed when the next connection
// is made.
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

/** Of the name of every such folder. */
export const folderPrefix = 'trainyard-mux-';
/** Milliseconds; what is younger may be a connection that is just being made. */
const youngest = 60_000;

/**
 * Removes this user's own folders in `parent` in which nobody listens any more. What cannot be
 * removed stays.
 */
export async function removeAbandoned(parent: string, now = Date.now()): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(folderPrefix))) {
    const folder = join(parent, name);
    try {
      const { uid, mtimeMs } = await lstat(folder);
      if (uid !== process.getuid?.() || now - mtimeMs < youngest) continue;
      const entries = await readdir(folder);
      const listening = await Promise.all(entries.map((entry) => listens(join(folder, entry))));
      if (!listening.includes(true)) await rm(folder, { recursive: true, force: true });
    } catch {
      continue; // gone meanwhile, or not to be removed: it is nobody's fault that matters here
    }
  }
}

function listens(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (value: boolean) => (): void => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', answer(true));
    socket.once('error', answer(false));
  });
}
