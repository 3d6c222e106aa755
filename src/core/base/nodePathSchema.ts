// A path in what a node answers.
import * as z from 'zod/mini';
import { pathFromNode } from './nodePath.js';

/** A string of a node as a `NodePath`. No form is checked: the node named it. */
export const nodePathSchema = z.pipe(z.string(), z.transform(pathFromNode));
