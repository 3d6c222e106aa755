// Which nodes take ranks.

/**
 * Whether ranks run there: on a host of a profile, or on a node of a run. A head with 0 slots holds
 * and supervises runs, and no rank runs on it.
 */
export const hasRanks = ({ slots }: { slots?: number | undefined }): boolean => slots !== 0;

/** Whether a node of a run has no rank, and waits for another one to be lost. */
export const isSpare = ({ spare }: { spare?: true | undefined }): boolean => spare === true;

/** Whether a node of a run has ranks from its start. */
export const startsRanks = (node: { slots: number; spare?: true | undefined }): boolean =>
  hasRanks(node) && !isSpare(node);
