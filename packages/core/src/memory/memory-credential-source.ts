import type { Credential, CredentialSource } from '../ports/credential-source.ts'

/**
 * A {@link CredentialSource} over a fixed list, for tests and examples. Of two credentials of one name the last
 * counts. Keys for links contain the hashes as they are: give it hashes that cannot be guessed, or no links away.
 */
export function createMemoryCredentialSource(credentials: Iterable<Credential>): CredentialSource {
  const byName = new Map<string, Credential>()
  for (const credential of credentials) byName.set(credential.name, credential)
  return {
    find: (name) => byName.get(name),
    async linkKey(name) {
      const passwordHash = byName.get(name)?.passwordHash
      const key = new TextEncoder().encode(
        `holdfast link key 1 in memory\0${name}\0${passwordHash}`,
      )
      return passwordHash === undefined ? undefined : key
    },
  }
}
