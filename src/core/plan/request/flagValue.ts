// A flag's value, for whoever needs no more of the trainer's flags.

/** The value of `--name VALUE` or `--name=VALUE`, of several the last. */
export function flagValue(argv: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  argv.forEach((word, index) => {
    if (word === name) found = argv[index + 1];
    else if (word.startsWith(`${name}=`)) found = word.slice(name.length + 1);
  });
  return found;
}
