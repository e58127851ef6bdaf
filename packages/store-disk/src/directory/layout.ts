import { join } from 'node:path'
import { nameProblem, type BlobKey } from '@holdfast/core'
import { decodeEscapedName, encodeEscapedName, isContinued } from './escaped-name.ts'

/**
 * How names become names on disk. `plain`: as they are, for file systems that keep all names apart. `escaped`: as
 * `escaped-name.ts` writes them, for file systems that fold case or normalisation or refuse some characters.
 */
export type NamesMode = 'plain' | 'escaped'

/** Which path belongs to which name, and back. Nothing else knows the format; docs for people are in the README. */
export interface Layout {
  /** The directory that holds all customers. */
  readonly root: string
  /** The directory of a customer. @throws TypeError for what cannot be a name. */
  customerDirectory(customer: string): string
  /** The file of a blob. @throws TypeError for what cannot be a name. */
  blobPath(key: BlobKey): string
  /**
   * The name of the customer whose path below the root, or of the blob whose path below its customer's directory, is
   * `components`; `undefined` if there is no such name.
   */
  nameAt(components: readonly string[]): string | undefined
  /** Whether all blobs of a customer are in one directory. */
  readonly isFlat: boolean
  /** Whether a directory called `component` is no customer's and holds more of what its parent holds. */
  holdsMore(component: string): boolean
}

/** The layout of the files below the directory `root`. */
export function createLayout(root: string, mode: NamesMode): Layout {
  const encode = mode === 'plain' ? (name: string) => [name] : encodeEscapedName
  const customerDirectory = (customer: string) => join(root, ...encode(checked(customer)))
  return {
    root,
    isFlat: mode === 'plain',
    customerDirectory,
    blobPath: ({ customer, name }) => join(customerDirectory(customer), ...encode(checked(name))),
    nameAt: (components) => {
      const name = mode === 'plain' ? components.join('/') : decodeEscapedName(components)
      return name === undefined || nameProblem(name) !== undefined ? undefined : name
    },
    holdsMore: (component) => mode === 'escaped' && isContinued(component),
  }
}

/** The core has judged every name already; a caller without it must still not reach outside the directory. */
function checked(name: string): string {
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Not a name: ${problem}`)
  return name
}
