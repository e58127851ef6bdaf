/** A time in milliseconds that never goes back, to measure ages and waits. The system's clock can be set back. */
export const monotonicTime = (): number => performance.now()
