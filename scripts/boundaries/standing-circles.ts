/** Circles of imports that are not broken yet. The list may only become shorter. */
export const standingCircles: readonly (readonly string[])[] = [
  [
    'server/src/serve/open-disk-store.ts',
    'server/src/serve/open-minio-store.ts',
    'server/src/serve/open-store.ts',
  ],
  [
    'server/src/workers/share-commons.ts',
    'server/src/workers/start-worker.ts',
    'server/src/workers/told-commons.ts',
  ],
]

/** Packages whose folders import in one direction only. The list may only become longer. */
export const packagesInFloors: readonly string[] = [
  'copy',
  'credentials-file',
  'http-koa',
  'passwords',
  'store-disk',
  'store-minio',
]
