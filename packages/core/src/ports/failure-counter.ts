/** How often something has failed recently. */
export interface FailureCount {
  readonly failures: number
  /** Milliseconds until these failures are forgotten; 0 if there are none. */
  readonly forgottenInMs: number
}

/**
 * Counts failures by key within a period that each counter defines; the period of a key begins with its first failure. Servers that
 * share a counter share the brake on bad logins.
 */
export interface FailureCounter {
  /**
   * The failures of `key` in its period. This is called at every request of a customer: a counter that knows the answer returns it
   * at once, and returns a promise only if it has to ask another server.
   */
  read(key: string): FailureCount | Promise<FailureCount>
  /** Counts one more failure of `key`. */
  add(key: string): Promise<void>
  /**
   * How many servers count with this counter and run attempts at the same time, this one included: a brake gives this server its
   * share of the attempts that may still fail. Default: 1.
   */
  sharers?(): number
}
