// What each package has of node-pty, whose binaries are made for one platform each; the rest of a
// package is the same for all. Programs of nodes are x86-64 Linux in every one of them.

/**
 * By the name of a platform, as node-pty has them. Symbols for debuggers stay behind, and so does a
 * console that we do not ask for.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const ptyFiles = {
  'linux-x64': ['pty.node'],
  'linux-arm64': ['pty.node'],
  'darwin-x64': ['pty.node', 'spawn-helper'],
  'darwin-arm64': ['pty.node', 'spawn-helper'],
  'win32-x64': ['conpty.node', 'conpty_console_list.node'],
};

/** What node-pty starts beside itself on Windows, below dist/. */
export const windowsHelpers = ['worker/conoutSocketWorker.js', 'conpty_console_list_agent.js'];

export const universal = 'universal';
export const targets = [...Object.keys(ptyFiles), universal];

/**
 * What the package of a target has beyond what all have, by names in the package.
 * @param {string} target
 */
export function filesOf(target) {
  const platforms = target === universal ? Object.keys(ptyFiles) : [target];
  const binaries = platforms.flatMap((platform) =>
    (ptyFiles[platform] ?? []).map((file) => `dist/prebuilds/${platform}/${file}`),
  );
  const helpers = platforms.includes('win32-x64') ? windowsHelpers.map((file) => `dist/${file}`) : [];
  return [...binaries, ...helpers];
}
