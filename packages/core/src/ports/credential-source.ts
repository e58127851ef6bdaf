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
   * any string, the empty one included. Rejects when the source cannot answer; a failure is never `undefined`. Called
   * for every request: a source that has its customers in memory returns the credential without a promise.
   */
  find(name: string): Credential | undefined | Promise<Credential | undefined>

  /**
   * The key that links to the files of the customer called `name` are signed with; `undefined` if there is no such customer.
   * It has 32 bytes or more, is another one for each customer, and a new one once the password has changed, which makes all
   * earlier links worthless. All servers that share the customers give the same. It follows from what they know already, in
   * such a way that a guess at the password by means of a link costs what a guess by means of the hash does. A stranger
   * presents the name: the time must not depend on whether there is such a customer. Rejects when the source cannot answer.
   * A source without this method has no links.
   */
  linkKey?(name: string): Promise<Uint8Array | undefined>
}

/** What a verifier may know of an attempt in addition to the password. */
export interface VerificationOptions {
  /** The name in the attempt: for verifiers that ask another service, which counts attempts by name. */
  readonly name?: string
  /** Where the attempt comes from. When many wait, addresses take turns. */
  readonly address?: string
  /** Aborts when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Whether `passwordHash` was made from `password`. A synchronous function will do.
 *
 * Given: `password` is whatever a stranger sent; `passwordHash` comes from the credential source, `undefined` for an
 * unknown customer. Promised: an unknown customer takes as long as a wrong password and gives `false`; the caller's
 * thread is not blocked while hashing; no more than a bounded number of hashes are computed at a time, and when too
 * many wait the call rejects with `overloaded`. Rejects with the signal's reason when it aborts before hashing has
 * begun. Rejects when the hash is in no known format. A result that needs no hashing may be returned without a promise.
 */
export type PasswordVerifier = (
  password: string,
  passwordHash: string | undefined,
  options?: VerificationOptions,
) => boolean | Promise<boolean>
