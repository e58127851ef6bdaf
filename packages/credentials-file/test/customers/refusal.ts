import { CustomersFileError } from '../../src/customers/customers-file-error.ts'
import { parseCustomers } from '../../src/customers/parse-customers.ts'

/** What `parseCustomers` throws for `text`; throws itself where it does not. */
export function refusal(text: string): CustomersFileError {
  try {
    parseCustomers(text, 'customers.yaml')
  } catch (error) {
    if (error instanceof CustomersFileError) return error
    throw error
  }
  throw new Error('Parsed what should have been refused')
}
