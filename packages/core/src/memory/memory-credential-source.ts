import type { Credential, CredentialSource } from '../ports/credential-source.ts'

/**
 * A {@link CredentialSource} over a fixed list, for tests and examples. Of two credentials of one name the last
 * counts.
 */
export function createMemoryCredentialSource(credentials: Iterable<Credential>): CredentialSource {
  const byName = new Map<string, Credential>()
  for (const credential of credentials) byName.set(credential.name, credential)
  return {
    find: (name) => byName.get(name),
  }
}
