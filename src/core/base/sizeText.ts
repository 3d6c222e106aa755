/** `12 MB`, and from 1 GB on `1.5 GB`: of bytes, in powers of ten. */
export const sizeText = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(0)} MB`;

/** `12 MB free in /w`, and where that is too little how much is needed. */
export const freeText = (free: number, folder: string, needed = 0): string =>
  `${sizeText(free)} free in ${folder}${free < needed ? `, ${sizeText(needed)} are needed` : ''}`;
