/**
 * Adds a customer, or gives one a new password, and prints it:
 *
 *     node src/add-customer.ts alice [quota in bytes] [most files]
 */
import { nameProblem } from '@holdfast/core'
import { generatePassword, hashPassword } from '@holdfast/passwords'
import { openPool } from './open-pool.ts'

const { DATABASE_URL = 'postgres://localhost/files' } = process.env
const [name = '', quota, maxFiles] = process.argv.slice(2)

const problem = nameProblem(name)
if (problem !== undefined) throw new TypeError(`This is no name: ${problem}`)

const pool = openPool(DATABASE_URL)
const password = generatePassword()
await pool.query(
  `INSERT INTO customers (name, password_hash, quota, max_files) VALUES ($1, $2, $3, $4)
   ON CONFLICT (name) DO UPDATE SET
     password_hash = excluded.password_hash, quota = excluded.quota, max_files = excluded.max_files`,
  [name, await hashPassword(password), quota ?? null, maxFiles ?? null],
)
await pool.end()
console.log(password)
