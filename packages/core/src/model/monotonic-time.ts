/** Milliseconds that only go on. What measures ages and waits must not depend on the system's clock, which can be set back. */
export const monotonicTime = (): number => performance.now()
