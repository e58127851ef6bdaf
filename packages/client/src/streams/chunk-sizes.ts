/** So much stays in the processor's cache from one step to the next. */
export const cachedChunk = 64 * 1024

/** So many bytes are handed over at a time: of more, a slow line would show no progress for minutes. */
export const smallChunk = 256 * 1024

/** So many on a quick line, where each chunk costs the processor about as much as its bytes. */
export const largeChunk = 1024 ** 2
