import { isHoldfastError, type HoldfastError } from '../errors/holdfast-error.ts'

export interface Login {
  readonly name: string
  readonly password: string | (() => string)
  readonly onRefused?: ((error: HoldfastError) => void) | undefined
}

/** Who sends the requests. */
export interface Credentials {
  /** For one request, as they are now. */
  take(): TakenCredentials
  /** Whether a request may have failed for a password that is another one by now. */
  readonly isOutdated: (error: unknown) => boolean
}

interface TakenCredentials {
  readonly headers: Readonly<Record<string, string>>
  /** Notes what the request failed with. */
  failed(error: HoldfastError): void
}

export function createCredentials({ name, password, onRefused }: Login): Credentials {
  const nameHeader = headerOf('name', name)
  const current = typeof password === 'function' ? password : () => password
  // What can never work is said at once.
  if (typeof password !== 'function') headerOf('password', password)
  /** With which passwords requests have failed. An answer to HEAD has no words that would say why. */
  const passwords = new WeakMap<HoldfastError, string>()
  const isOutdated = (error: unknown) => {
    const shown = isHoldfastError(error) ? passwords.get(error) : undefined
    return shown !== undefined && shown !== current()
  }
  return {
    isOutdated,
    take() {
      const shown = current()
      return {
        headers: { 'x-auth-name': nameHeader, 'x-auth-password': headerOf('password', shown) },
        failed(error) {
          if (error.status !== 400) return
          passwords.set(error, shown)
          const isRefusal = isHoldfastError(error, 'invalid-credentials', 'missing-credentials')
          if (isRefusal && !isOutdated(error)) onRefused?.(error)
        },
      }
    },
  }
}

/** HTTP takes a character for each byte; the server reads the bytes as UTF-8. */
function headerOf(option: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${option} is missing`)
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw new TypeError(`${option} has a control character, which no header can have`)
  }
  return String.fromCharCode(...new TextEncoder().encode(value))
}
