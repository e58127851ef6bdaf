import { FileServiceError, nameProblem, type CredentialSource } from '@holdfast/core'
import { DatabaseError, type Pool } from 'pg'

interface CustomerRow {
  readonly name: string
  readonly password_hash: string
  /** A bigint, which `pg` gives as text. */
  readonly quota: string | null
  readonly max_files: number | null
}

// With a name, a statement is prepared once for each connection.
const findCustomer = {
  name: 'find-customer',
  text: 'SELECT name, password_hash, quota, max_files FROM customers WHERE name = $1',
}

/**
 * Customers in the table of `schema.sql`. Each request asks the database, so that who is removed there is out at
 * once. Where the database cannot be asked, that is the error `store-unavailable`, which clients get as 503.
 */
export function createPostgresCredentialSource(pool: Pool): CredentialSource {
  return {
    async find(name) {
      // No customer is called so, and PostgreSQL takes no text with NUL, or would make other text of half a character.
      if (nameProblem(name) !== undefined) return undefined
      const { rows } = await pool
        .query<CustomerRow>({ ...findCustomer, values: [name] })
        .catch((error: unknown) => {
          throw isOutage(error) ? unavailable(error) : error
        })
      const row = rows[0]
      if (row === undefined) return undefined
      const { password_hash: passwordHash, quota, max_files: maxFiles } = row
      return {
        name,
        passwordHash,
        ...(quota !== null && { quota: Number(quota) }),
        ...(maxFiles !== null && { maxFiles }),
      }
    },
  }
}

/** What PostgreSQL has answered is a fault (a table that is missing, say) but for its classes of "not now". */
function isOutage(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return true
  return ['08', '53', '57'].includes(error.code?.slice(0, 2) ?? '')
}

function unavailable(cause: unknown): FileServiceError {
  return new FileServiceError('store-unavailable', 'The customers are out of reach', { cause })
}
