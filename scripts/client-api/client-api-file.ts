import { fileURLToPath } from 'node:url'

/** The module that is written from the API's description. */
export const clientApiFile = fileURLToPath(
  new URL('../../packages/client/src/api/description.ts', import.meta.url),
)
