// What is loaded when something of it is first needed, as a bundle of its own
// (scripts/build/build.mjs), so that activation stays short. Both bundles have their own copies of
// the core's classes. So code of the other bundle never tests an object of this one by `instanceof`.
// What the views need is loaded at once, and the rest when somebody first uses it.
export { Backend } from './backend.js';

/** Every command, by its folder (commands/register.ts). */
export const commands = {
  addCluster: () => import('./commands/addCluster/commands.js'),
  checkpoints: () => import('./commands/checkpoints/commands.js'),
  cluster: () => import('./commands/cluster/commands.js'),
  export: () => import('./commands/export/commands.js'),
  profiles: () => import('./commands/profiles/commands.js'),
  reports: () => import('./commands/reports/commands.js'),
  runs: () => import('./commands/runs/commands.js'),
  start: () => import('./commands/start/commands.js'),
} satisfies Later;

/** The terminals of tasks, and what a language model asks of a tool. */
export const parts = {
  taskTerminal: () => import('./tasks/taskTerminal.js'),
  toolCalls: () => import('./assist/toolCalls.js'),
} satisfies Later;

type Later = Record<string, () => Promise<object>>;
