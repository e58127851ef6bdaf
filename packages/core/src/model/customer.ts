import { nameProblem } from './file-name.ts'
import { kindOf, requireCount } from './require.ts'

/** An authenticated owner of files. */
export interface Customer {
  readonly name: string
  /** The most bytes the customer may keep. Default: no limit. */
  readonly quota?: number
  /** The most files the customer may keep. Default: no limit. */
  readonly maxFiles?: number
}

/** Whether the customer has a limit of bytes or of files. */
export function isLimited({ quota, maxFiles }: Customer): boolean {
  return quota !== undefined || maxFiles !== undefined
}

/**
 * Refuses an invalid customer from an application.
 *
 * @throws TypeError when the name is not a string or breaks the policy for names, or a limit is not a number
 * @throws RangeError when a limit is below 0 or NaN
 */
export function checkCustomer(customer: Customer): void {
  const given: unknown = customer
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`A customer is an object, as in filesOf({ name }), not ${kindOf(given)}`)
  }
  const name: unknown = customer.name
  if (typeof name !== 'string') {
    throw new TypeError(`A customer's name must be a string, not ${kindOf(name)}`)
  }
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Invalid customer name: ${problem}`)
  const { quota, maxFiles } = customer
  if (quota !== undefined) requireCount("A customer's quota", quota)
  if (maxFiles !== undefined) requireCount("A customer's maxFiles", maxFiles, 'files')
}
