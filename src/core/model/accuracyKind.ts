// Which images an accuracy in a list is of.

/**
 * ` training` behind an accuracy of a run that nothing was evaluated of, without a `best`: the
 * accuracy is of its training images. Else empty.
 */
export const accuracyKind = ({ best }: { best?: unknown }): string => (best === undefined ? ' training' : '');
