// docs/contracts/output.schema.json, of the schemas of what `--json` prints.
import * as z from 'zod/mini';
import { outputRecords, type OutputName } from './records.js';
import { outputOfVerbs } from './verbs.js';

const names = Object.keys(outputRecords) as OutputName[];

/** One line of any verb. Later versions may add fields, so the schema refuses none. */
export function outputJsonSchema(): object {
  const definitions = Object.fromEntries(
    names.map((name) => [name, { description: `Of ${verbsOf(name)}.`, ...schemaOf(name) }]),
  );
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'One line of what trainyard prints with --json',
    anyOf: names.map((name) => ({ $ref: `#/definitions/${name}` })),
    definitions,
  };
}

const verbsOf = (name: OutputName): string =>
  Object.entries(outputOfVerbs)
    .filter(([, printed]) => printed.includes(name))
    .map(([verb]) => `\`${verb}\``)
    .join(', ');

function schemaOf(name: OutputName): object {
  const schema = z.toJSONSchema(outputRecords[name], {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  delete schema.$schema; // the whole says it
  return schema;
}
