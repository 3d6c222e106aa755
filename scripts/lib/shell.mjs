// Running other programs from scripts: output passes through, a failure is an exception that names
// the command.
import { spawnSync } from 'node:child_process';
import { messageOf } from './errors.mjs';

/** @import { SpawnSyncOptions } from 'node:child_process' */

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {SpawnSyncOptions} [options]
 */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (result.error) throw new Error(`${command}: ${result.error.message}`);
  if (result.status !== 0) {
    const how = result.signal ? `signal ${result.signal}` : `exit ${result.status}`;
    throw new Error(`${command} ${args.slice(0, 6).join(' ')}: ${how}`);
  }
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Omit<SpawnSyncOptions, 'encoding'>} [options]
 */
export function capture(command, args, options = {}) {
  const result = spawnSync(command, args, { ...options, encoding: 'utf8' });
  return {
    ok: !result.error && result.status === 0,
    stdout: result.stdout ?? '',
    stderr: result.stderr ?? String(result.error ?? ''),
  };
}

/** @param {string} command */
export function has(command) {
  return capture('sh', ['-c', `command -v ${command}`]).ok;
}

/** @param {string} text */
export function step(text) {
  process.stderr.write(`\u203a ${text}\n`);
}

/**
 * Ends the script with one line on stderr instead of a stack.
 * @param {() => unknown} body
 */
export function main(body) {
  Promise.resolve()
    .then(body)
    .catch((error) => {
      process.stderr.write(`error: ${messageOf(error)}\n`);
      process.exitCode = 1;
    });
}
