// The layers of docs/architecture.md, and no circles anywhere. `npm run lint` holds the code to
// these rules. They see every import: static, dynamic and `import type`.

/** The editor's API, as the packages' types declare it. */
const vscode = '^(vscode|node_modules/@types/vscode)(/|$)';
/** The pages' messages: all that both sides of a webview know of one another. */
const protocol = '^src/webview/(protocol|formProtocol)\\.ts$';

/** What the files of each layer may import, besides packages and Node's own modules. */
const layers = [
  { name: 'core', files: '^src/core/', may: [] },
  // Of the core its pages know one file of types, and how a time is written.
  {
    name: 'webview',
    files: '^src/webview/',
    may: ['^src/core/plan/form/runFormValues\\.ts$', '^src/core/base/duration\\.ts$'],
  },
  { name: 'contributions', files: '^src/contributions\\.ts$', may: ['^src/core/'] },
  { name: 'cli', files: '^src/cli/', may: ['^src/core/', '^package\\.json$'] },
  {
    name: 'ui',
    files: '^src/ui/',
    may: ['^src/core/', '^src/contributions\\.ts$', protocol, vscode],
  },
  {
    name: 'extension',
    files: '^src/extension\\.ts$',
    may: ['^src/core/', '^src/contributions\\.ts$', '^src/ui/', vscode],
  },
];
const everyLayer = layers.map(({ files }) => files);
const ofPackages = '^node_modules/(?!@types/vscode/)';

const layerRules = layers.map(({ name, files, may }) => ({
  name: `layer-${name}`,
  comment: `src/${name} may import only what docs/architecture.md ("Layers of the TypeScript side") says.`,
  severity: 'error',
  from: { path: files },
  to: { pathNot: [files, ...may, ofPackages], dependencyTypesNot: ['core'] },
}));

/** The folders of the core, from the lowest up: each may import itself and those before it. */
export const coreFolders = [
  'base',
  'contracts',
  'cost',
  'slurm',
  'streams',
  'profiles',
  'ssh/base',
  'ssh/library',
  'ssh/config',
  'ssh/hostKeys',
  'ssh/auth',
  'ssh/ssh2',
  'ssh/openssh',
  'ssh',
  'model/series',
  'model/hosts',
  'model',
  'compare',
  'scaling',
  'agent',
  'setup',
  'code',
  'environment',
  'stage',
  'plan/request',
  'plan',
  'plan/form',
  'check',
  'presets',
  'cluster/nodes',
  'cluster/gpus',
  'cluster/check',
  'cluster',
  'tunnels',
  'follow',
  'follow/webPage',
  'bakeoff',
  'sweep',
  'measure',
  'checkpoints',
  'export',
  'export/mlflow',
  'export/wandb',
  'export/files',
  'export/places',
  'assist',
];
/** @param {string} folder of src/core */
const filesOf = (folder) => `^src/core/${folder}/[^/]+$`;

const coreRules = coreFolders.slice(0, -1).map((folder, at) => ({
  name: `core-${folder.replace('/', '-')}`,
  comment: `src/core/${folder} must not import folders that stand after it in coreFolders (.dependency-cruiser.mjs).`,
  severity: 'error',
  from: { path: filesOf(folder) },
  to: { path: coreFolders.slice(at + 1).map(filesOf) },
}));

/** What the files of each folder of scripts may import of the other ones. */
const scriptFolders = {
  lib: [],
  native: ['lib'],
  practice: ['lib'],
  editor: ['lib'],
  graph: ['lib'],
  build: ['lib', 'native'],
  demo: ['lib', 'native', 'practice', 'editor', 'build'],
  test: ['lib', 'native', 'practice', 'editor', 'build'],
  bench: ['lib', 'native', 'practice', 'editor', 'build', 'demo'],
};

const scriptRules = Object.entries(scriptFolders).map(([name, may]) => ({
  name: `scripts-${name}`,
  comment: `scripts/${name} may import only of: ${[name, ...may].join(', ')}.`,
  severity: 'error',
  from: { path: `^scripts/${name}/` },
  to: { path: '^scripts/', pathNot: [name, ...may].map((folder) => `^scripts/${folder}/`) },
}));

export default {
  forbidden: [
    ...layerRules,
    ...coreRules,
    {
      name: 'no-unknown-core-folder',
      comment: 'A folder of src/core has its place in coreFolders (.dependency-cruiser.mjs).',
      severity: 'error',
      from: {},
      to: { path: '^src/core/', pathNot: coreFolders.map(filesOf) },
    },
    ...scriptRules,
    {
      name: 'contributions-take-types-only',
      comment: 'src/contributions.ts is loaded at activation: of the core it may take types only.',
      severity: 'error',
      from: { path: '^src/contributions\\.ts$' },
      to: { path: '^src/core/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-unknown-layer-importing',
      comment: 'A file of src belongs to a layer. A new layer is declared in .dependency-cruiser.mjs.',
      severity: 'error',
      from: { path: '^src/', pathNot: everyLayer },
      to: {},
    },
    {
      name: 'no-unknown-layer-imported',
      comment: 'A file of src belongs to a layer. A new layer is declared in .dependency-cruiser.mjs.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: everyLayer },
    },
    {
      name: 'no-unknown-layer-alone',
      comment: 'A file of src belongs to a layer. A new layer is declared in .dependency-cruiser.mjs.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: everyLayer },
      to: {},
    },
    {
      name: 'scripts-without-tests',
      comment: 'Tests use scripts, never the other way round.',
      severity: 'error',
      from: { path: '^scripts/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-circles',
      comment: 'A file must not need itself, not even for a type. Move what both need into a third file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circles-of-folders',
      comment: 'Two folders must not need each other. Move what both need into a lower folder.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'The import leads nowhere, so no other rule can judge it.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // `import type` is an import too, and so is JSDoc's `@import`.
    tsPreCompilationDeps: true,
    detectJSDocImports: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: '^node_modules/' },
    // What a build or a test makes.
    exclude: { path: '^(dist|build|test/artifacts)/' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
  },
};
