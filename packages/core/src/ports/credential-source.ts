/**
 * What a login may do: `list` names and usage; `read` files; `create` files under free names; `replace` files; `delete` files; and make
 * `link`s, which allow no more than their maker has. A rename needs `read`, `create` and `delete`.
 */
export const rights = ['list', 'read', 'create', 'replace', 'delete', 'link'] as const

/** One of {@link rights}. */
export type Right = (typeof rights)[number]

/** The data of a customer's login. */
export interface Credential {
  /** Equal to the `name` that `find` was called with: the customer's name, or `CUSTOMER/LOGIN` for a further login of the customer. */
  readonly name: string
  /**
   * The name of a further login, after the `/`. Without it, the name is a customer's, and one with a `/` is refused: where people choose
   * their names, no customer may become a login of another one by its name.
   */
  readonly login?: string
  /** A hash that the {@link PasswordVerifier} in use understands, usually a PHC string. Never the password. */
  readonly passwordHash: string
  /** The most bytes the customer may keep; the same for all logins of a customer. Default: no limit. */
  readonly quota?: number
  /** The most files the customer may keep; the same for all logins of a customer. Default: no limit. */
  readonly maxFiles?: number
  /** How long after their last change the customer's files are deleted, in milliseconds, an hour or more. Default: never. */
  readonly expireAfterMs?: number
  /**
   * How long earlier versions and deleted files can be restored, in milliseconds; 0: none is kept. The same for all logins of a customer.
   * Default: the service's.
   */
  readonly keepReplacedMs?: number
  /** What the login may do. Default: everything. */
  readonly may?: readonly Right[]
  /** From when the login is refused, in milliseconds since 1970. Default: never. */
  readonly endsAtMs?: number
}

/** Knows the customers. Every sentence here is a test in `@holdfast/contract`. */
export interface CredentialSource {
  /**
   * The credential of the login called `name`; `undefined` if there is no such login. A source of further logins knows them as
   * `CUSTOMER/LOGIN`, and says so by `login`. Names are compared code unit by code unit: case and normalisation make a difference, and
   * names such as `__proto__` are ordinary names. `name` comes from an unknown client: it may be any string, also the empty one.
   * Rejects when the source cannot answer; a failure is never `undefined`. This is called for every request, so a source that has its
   * customers in memory returns the credential without a promise.
   */
  find(name: string): Credential | undefined | Promise<Credential | undefined>

  /**
   * The key that signs the links of the login called `name`; `undefined` if there is no such login. It has 32 bytes or more,
   * and differs from login to login. When the password changes, the key changes, too, so that all earlier links become
   * invalid. All servers that share the customers return the same key. They derive it from data that they have already, in such a
   * way that to guess the password from a link costs as much as to guess it from the hash. The name comes from an unknown client:
   * the time of a call must not depend on whether there is such a customer. Rejects when the source cannot answer. Without this
   * method there are no links.
   */
  linkKey?(name: string): Promise<Uint8Array | undefined>
}

/** What a verifier gets about an attempt besides the password. */
export interface VerificationOptions {
  /** The name in the attempt: for verifiers that ask another service, which counts attempts by name. */
  readonly name?: string
  /** The address from which the attempt comes. When many attempts wait, the addresses are served in rotation. */
  readonly address?: string
  /** Aborts when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Whether `passwordHash` was made from `password`. The function may be synchronous.
 *
 * Callers guarantee: `password` is any string from an unknown client; `passwordHash` comes from the credential source, and is
 * `undefined` for an unknown customer. Verifiers promise: for an unknown customer the call takes as long as for a wrong password,
 * and the result is `false`; hashing does not block the caller's thread; the number of hashes that are computed at a time is
 * limited, and when too many calls wait, a call rejects with `overloaded`. Rejects with the signal's reason if it aborts before
 * hashing has begun. Rejects if the format of the hash is unknown. A result that needs no hashing may be returned without a
 * promise.
 */
export type PasswordVerifier = (
  password: string,
  passwordHash: string | undefined,
  options?: VerificationOptions,
) => boolean | Promise<boolean>
