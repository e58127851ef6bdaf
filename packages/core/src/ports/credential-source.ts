/** What is known of a customer for logging in. */
export interface Credential {
  /** The customer's name, equal to the one asked for. */
  readonly name: string
  /** A hash that the {@link PasswordVerifier} in use understands, a PHC string as a rule. Never the password. */
  readonly passwordHash: string
  /** The most bytes the customer may keep. Default: no limit. */
  readonly quota?: number
  /** The most files the customer may keep. Default: no limit. */
  readonly maxFiles?: number
}

/** Knows the customers. Every sentence here is a test in `@holdfast/contract`. */
export interface CredentialSource {
  /**
   * The credential of the customer called `name`, compared code unit by code unit: case and normalisation count, and
   * names such as `__proto__` are names like others. `undefined` if there is none. `name` is whatever a stranger sent:
   * any string, the empty one included. Rejects when the source cannot tell; "cannot tell" is never `undefined`. Asked
   * at every request: a source that has its customers in memory says it at once, without a promise.
   */
  find(name: string): Credential | undefined | Promise<Credential | undefined>
}

/** What a verifier may know of an attempt beside the password. */
export interface VerificationOptions {
  /** Who it is said to be: for verifiers that ask elsewhere, where attempts are counted by name. */
  readonly name?: string
  /** Where it comes from. Where many wait, addresses take turns. */
  readonly address?: string
  /** Aborts when nobody wants to know any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Tells whether `password` is the one that `passwordHash` was made from. A plain function will do.
 *
 * Given: `password` is whatever a stranger sent; `passwordHash` comes from the credential source, `undefined` for an
 * unknown customer. Promised: an unknown customer takes as long as a wrong password and gives `false`; the caller's
 * thread is not blocked while hashing; no more than a bounded number of hashes are computed at a time, and when too
 * many wait the call rejects with `overloaded`. Rejects with the signal's reason when it aborts before hashing has
 * begun. Rejects when the hash is in no known format. What is known without hashing may be said at once, without a
 * promise.
 */
export type PasswordVerifier = (
  password: string,
  passwordHash: string | undefined,
  options?: VerificationOptions,
) => boolean | Promise<boolean>
