import { constants } from 'node:fs'

/**
 * How a blob's file is opened. Symbolic links are not followed, and without O_NONBLOCK opening a named pipe would wait
 * for a writer for ever.
 */
export const readFlags =
  constants.O_RDONLY | (constants.O_NOFOLLOW || 0) | (constants.O_NONBLOCK || 0)
