// Running other programs from scripts: output passes through, a failure is an exception that names
// the command.
import { spawnSync } from 'node:child_process';

export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (result.error) throw new Error(`${command}: ${result.error.message}`);
  if (result.status !== 0) {
    const how = result.signal ? `signal ${result.signal}` : `exit ${result.status}`;
    throw new Error(`${command} ${args.slice(0, 6).join(' ')}: ${how}`);
  }
}

export function capture(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', ...options });
  return {
    ok: !result.error && result.status === 0,
    stdout: result.stdout ?? '',
    stderr: result.stderr ?? String(result.error ?? ''),
  };
}

export function has(command) {
  return capture('sh', ['-c', `command -v ${command}`]).ok;
}

export function step(text) {
  process.stderr.write(`\u203a ${text}\n`);
}

/** Ends the script with one line on stderr instead of a stack. */
export function main(body) {
  Promise.resolve()
    .then(body)
    .catch((error) => {
      process.stderr.write(`error: ${error.message}\n`);
      process.exitCode = 1;
    });
}
