// A path in what a node answers.
import * as z from 'zod/mini';
import { pathFromNode } from './nodePath.js';

export const nodePathSchema = z.pipe(z.string(), z.transform(pathFromNode));
