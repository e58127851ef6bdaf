/** Circles of imports that are not broken yet. The list may only become shorter. */
export const standingCircles: readonly (readonly string[])[] = []

/** Packages whose folders import in one direction only. The list may only become longer. */
export const packagesInFloors: readonly string[] = [
  'contract',
  'copy',
  'core',
  'credentials-file',
  'holdfast',
  'http-koa',
  'passwords',
  'server',
  'store-disk',
  'store-minio',
]
