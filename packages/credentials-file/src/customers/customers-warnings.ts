import { advice, type Advice } from '@holdfast/core'
import { isSameScryptCost, parseScryptHash, type ScryptCost } from '@holdfast/passwords'
import { programName } from '../messages/program-name.ts'
import { type CustomerEntry, isHash } from './parse-customers.ts'

export interface WarningsInput {
  readonly path: string
  readonly entries: readonly CustomerEntry[]
  readonly mode: number | undefined
  /** The cost that hashes should have. */
  readonly cost: ScryptCost
}

/**
 * What is not wrong with a customers file but should not stay so, with the remedy; never a password or a hash.
 */
export function customersWarnings({ path, entries, mode, cost }: WarningsInput): readonly Advice[] {
  const plain = entries.filter(({ password }) => !isHash(password))
  const odd = entries.filter(
    ({ password }) => isHash(password) && !isSameScryptCost(parseScryptHash(password).cost, cost),
  )
  const warnings: Advice[] = []
  if (plain.length > 0) {
    warnings.push(
      advice(`${path}: the password stands in plain text for ${named(plain)}`, rotate()),
    )
  }
  if (odd.length > 0) {
    const standard = `ln=${cost.ln},r=${cost.r},p=${cost.p}`
    warnings.push(
      advice(
        `${path}: the hash has another cost than ${standard} for ${named(odd)}, so that the time of an answer reveals that the customer exists`,
        rotate(),
      ),
    )
  }
  if (mode !== undefined && (mode & 0o006) !== 0) {
    const done = (mode & 0o002) === 0 ? 'read' : 'written'
    warnings.push(
      advice(
        `${path}: the file may be ${done} by every user of this machine`,
        `run: chmod o= ${path}`,
      ),
    )
  }
  return warnings
}

const rotate = () => `replace each with: ${programName()} customers rotate NAME`
const shownNames = 10

function named(entries: readonly CustomerEntry[]): string {
  const names = entries.slice(0, shownNames).map(({ name }) => JSON.stringify(name))
  const more = entries.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
