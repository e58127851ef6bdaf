import { linkKeyOfHash, linkKeyOfPassword, type ScryptCost } from '@holdfast/passwords'

/** What keys follow from. A reading of the file gives a new one. */
export interface KeyMaterial {
  /** What stands in memory for the password of a customer; equal for equal passwords of equal form. */
  readonly hashOf: (name: string) => string | undefined
  /** The passwords that stand in the file as plain text, by customer; emptied once their keys are known. */
  readonly plainPasswords: Map<string, string>
}

/** The key for links of the customer called `name`; see `CredentialSource`. */
export type LinkKeys = (material: KeyMaterial, name: string) => Promise<Uint8Array | undefined>

/**
 * {@link LinkKeys} that are computed when the first one is asked for, those of all plain-text passwords together, one after the
 * other: if each were computed when its customer is named, the time would show who exists. Keys are kept as long as the
 * passwords stay what they are.
 */
export function createLinkKeys(cost: ScryptCost): LinkKeys {
  let known: ReadonlyMap<string, Uint8Array> = new Map()
  let computing: Promise<void> = Promise.resolve()

  const compute = async ({ hashOf, plainPasswords }: KeyMaterial) => {
    const next = new Map<string, Uint8Array>()
    for (const [name, password] of plainPasswords) {
      const place = placeOf(name, hashOf(name))
      next.set(place, known.get(place) ?? (await linkKeyOfPassword(name, password, cost)))
    }
    known = next
    plainPasswords.clear()
  }

  const computeInTurn = (material: KeyMaterial) => {
    const mine = computing.then(() => {
      if (material.plainPasswords.size > 0) return compute(material)
    })
    computing = mine.catch(() => {})
    return mine
  }

  return async (material, name) => {
    await computeInTurn(material)
    const passwordHash = material.hashOf(name)
    const fromHash = linkKeyOfHash(name, passwordHash)
    return known.get(placeOf(name, passwordHash)) ?? fromHash
  }
}

/** Neither names nor hashes have a NUL. */
function placeOf(name: string, passwordHash = ''): string {
  return `${name}\0${passwordHash}`
}
