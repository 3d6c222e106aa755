// The picture of folderImports(): a frame for each layer, and its folders in the frame.
import { basename } from 'node:path/posix';
import { instance } from '@viz-js/viz';

/** @import { Edge, Folder, Graph } from './imports.mjs' */

const legend = [
  'Thick arrow: a layer imports from another one.',
  'Thin arrow: a folder imports from another one of its layer.',
  'Dashed: types only. Red with two heads: each imports from the other.',
];

/** @param {string} path */
const layerOf = (path) => path.split('/')[1] ?? '';
/** @param {string} layer */
const frameOf = (layer) => `cluster_${layer}`;
/** @param {string} path */
const isInALayer = (path) => path.split('/').length > 2;

/** @param {unknown} value */
const quoted = (value) => `"${value}"`; // no path here has a quotation mark
/** @param {Record<string, unknown>} values */
const attributes = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(' ');

/**
 * The files that lie in the layer's own folder are `*.ts`, or the one that there is.
 * @param {Folder} folder
 */
function labelOf({ path, files }) {
  if (isInALayer(path) || path.endsWith('.ts')) return basename(path);
  const [first, ...others] = files;
  return first !== undefined && others.length === 0 ? basename(first) : '*.ts';
}

/**
 * One edge for all that one layer's folders import from another layer.
 * @param {readonly Edge[]} edges
 */
function betweenLayers(edges) {
  /** @type {Map<string, Edge>} */
  const found = new Map();
  for (const { from, to, typesOnly } of edges) {
    const [a, b] = [layerOf(from), layerOf(to)];
    if (a === b) continue;
    const known = found.get(`${a} ${b}`);
    found.set(`${a} ${b}`, { from: a, to: b, typesOnly: typesOnly && (known?.typesOnly ?? true) });
  }
  return [...found.values()];
}

/**
 * Between the folders of a layer: one edge, not two, for a pair that imports from each other.
 * @param {readonly Edge[]} edges
 */
function withinLayers(edges) {
  const known = new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge]));
  return edges
    .filter(({ from, to }) => layerOf(from) === layerOf(to))
    .map((edge) => ({ ...edge, back: known.get(`${edge.to} ${edge.from}`) }))
    .filter(({ from, to, back }) => back === undefined || from < to);
}

/** @param {Graph} graph */
function dotText({ folders, edges }) {
  const layers = [
    ...new Set(folders.filter(({ path }) => isInALayer(path)).map(({ path }) => layerOf(path))),
  ];
  /** @param {Folder} folder */
  const box = (folder) => `${quoted(folder.path)} [${attributes({ label: labelOf(folder) })}];`;
  /** @param {string} layer */
  const inLayer = (layer) => folders.filter(({ path }) => layerOf(path) === layer);

  const frames = layers.flatMap((layer) => [
    `subgraph ${quoted(frameOf(layer))} {`,
    `label=${quoted(`src/${layer}`)};`,
    ...inLayer(layer).map(box),
    '}',
  ]);
  const alone = folders.filter(({ path }) => !layers.includes(layerOf(path))).map(box);
  // Graphviz knows arrows between boxes only; `ltail` and `lhead` cut them off at the frames.
  /** @param {string} layer */
  const boxOf = (layer) => quoted(inLayer(layer)[0]?.path ?? layer);
  const thick = betweenLayers(edges).map(({ from, to, typesOnly }) => {
    const cut = {
      ltail: layers.includes(from) ? frameOf(from) : undefined,
      lhead: layers.includes(to) ? frameOf(to) : undefined,
    };
    const look = { penwidth: 2, style: typesOnly ? 'dashed' : undefined };
    return `${boxOf(from)} -> ${boxOf(to)} [${attributes({ ...cut, ...look })}];`;
  });
  const thin = withinLayers(edges).map(({ from, to, typesOnly, back }) => {
    const style = typesOnly && (back?.typesOnly ?? true) ? 'dashed' : undefined;
    const look = back ? { dir: 'both', color: '#c0392b' } : {};
    return `${quoted(from)} -> ${quoted(to)} [${attributes({ style, ...look })}];`;
  });
  return `digraph imports {
graph [${attributes({
    compound: true,
    bgcolor: 'white',
    color: '#5d6d7e',
    fontname: 'Helvetica',
    fontsize: 13,
    label: legend.map((line) => `${line}\\l`).join(''),
    labeljust: 'l',
    labelloc: 't',
    nodesep: 0.35,
    pad: 0.2,
    ranksep: 0.6,
  })}];
node [${attributes({
    shape: 'box',
    style: 'rounded,filled',
    color: '#5b7aa5',
    fillcolor: '#eef3fa',
    fontname: 'Helvetica',
    fontsize: 13,
    height: 0.35,
    margin: '0.2,0.06',
  })}];
edge [${attributes({ color: '#566573', arrowsize: 0.7 })}];
${[...frames, ...alone, ...thick, ...thin].join('\n')}
}
`;
}

/**
 * As SVG: the same text on every machine, since Graphviz comes with the packages and brings its own
 * font sizes.
 * @param {Graph} graph
 */
export async function picture(graph) {
  const viz = await instance();
  return viz.renderString(dotText(graph), { format: 'svg', engine: 'dot' });
}
