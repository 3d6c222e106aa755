// Type-checked strict rules everywhere. The layers are held by .dependency-cruiser.mjs.
import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import jsdoc from 'eslint-plugin-jsdoc';
import tseslint from 'typescript-eslint';

/** Ways to the inner parts of a library, which src/core/ssh/library alone may use. */
const innerNames = [
  'MemberExpression[computed=false] > Identifier.property[name=/^_/]',
  'MemberExpression[computed=true] > Literal.property[value=/^_/]',
  'ObjectPattern > Property[key.name=/^_/]',
  'MemberExpression > Identifier.object[name="Reflect"]',
];
const innerParts =
  'Inner parts of a library are used by src/core/ssh/library alone: add the part to innerParts.ts there.';

export default defineConfig(
  { ignores: ['dist/**', 'build/**', 'node_modules/**', 'native/**', 'test/artifacts/**'] },
  eslint.configs.recommended,
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'Buffer',
          'URL',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'clearInterval',
          'fetch',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.{ts,mts}'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines': ['error', { max: 400 }],
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
    },
  },
  {
    // What a user sees of an error has its remedy, in the words of that user interface.
    files: ['src/cli/**', 'src/ui/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['**/core/base/errors.js'],
              importNames: ['errorText'],
              message: 'Use errorWords of remedies.ts.',
            },
          ],
        },
      ],
    },
  },
  { files: ['src/**', 'test/unit/**'], rules: { curly: ['error', 'multi-line'] } },
  {
    files: ['src/**'],
    ignores: ['src/core/ssh/library/**'],
    rules: {
      'no-restricted-syntax': ['error', ...innerNames.map((selector) => ({ selector, message: innerParts }))],
    },
  },
  {
    // What another file may use says what it is for. Types are TypeScript's, so no tags are needed.
    files: ['src/core/**'],
    plugins: { jsdoc },
    rules: {
      'jsdoc/require-jsdoc': [
        'error',
        {
          publicOnly: true,
          require: { FunctionDeclaration: true, ClassDeclaration: true },
          contexts: [
            'TSInterfaceDeclaration',
            'TSTypeAliasDeclaration',
            'TSEnumDeclaration',
            'ExportNamedDeclaration > VariableDeclaration',
          ],
          enableFixer: false,
        },
      ],
    },
  },
  {
    files: ['test/**'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off', '@typescript-eslint/unbound-method': 'off' },
  },
);
