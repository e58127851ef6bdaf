import { SetupError } from '@holdfast/core'
import {
  editCustomersFile,
  headerProblem,
  openCustomersFile,
  openFileCredentialSource,
  programName,
  type CustomersFile,
} from '@holdfast/credentials-file'
import { generatePassword, hashPassword } from '@holdfast/passwords'
import { findConfig } from '@holdfast/server/config'
import { visible } from '@holdfast/server/visible'
import { onlyName, type NameArgument } from '../settings/flags.ts'
import { print, standardError, shown } from '../terminal/print.ts'
import { readPassword } from '../terminal/ask.ts'

interface FileOption {
  readonly customers?: string | undefined
  readonly config?: string | undefined
}

interface PasswordOption {
  readonly 'password-stdin': boolean
}

interface LimitOptions {
  readonly quota?: string | undefined
  readonly 'max-files'?: string | undefined
}

export async function add(
  argv: FileOption & NameArgument & PasswordOption & LimitOptions,
): Promise<number> {
  const name = nameIn(argv)
  const { quota, 'max-files': maxFiles } = argv
  const limits = {
    ...(quota !== undefined && { quota }),
    ...(maxFiles !== undefined && { maxFiles }),
  }
  const customers = await pathOf(argv)
  const problem = headerProblem(name)
  if (problem !== undefined) {
    throw new SetupError(`The name "${name}" ${problem}`, ['Choose another.'])
  }
  const refuseTaken = (file: CustomersFile) => {
    if (!file.has(name)) return
    throw new SetupError(`${customers} has a customer "${name}" already`, [
      `A new password: ${programName()} customers rotate ${name}`,
    ])
  }
  refuseTaken(await openCustomersFile(customers))
  const { hash, announce } = await choosePassword(name, argv)
  await editCustomersFile(customers, (file) => {
    refuseTaken(file)
    file.add(name, hash, limits)
  })
  await announce()
  return 0
}

export async function rotate(argv: FileOption & NameArgument & PasswordOption): Promise<number> {
  const name = nameIn(argv)
  const { hash, announce } = await choosePassword(name, argv)
  await editCustomersFile(await pathOf(argv), (file) => file.setPasswordHash(name, hash))
  await announce()
  return 0
}

export async function remove(argv: FileOption & NameArgument): Promise<number> {
  const name = nameIn(argv)
  await editCustomersFile(await pathOf(argv), (file) => file.remove(name))
  note(`Removed the customer "${name}". The files of "${name}" are still in the store.`)
  return 0
}

export async function list(argv: FileOption): Promise<number> {
  const customers = await pathOf(argv)
  const names = (await openCustomersFile(customers)).names()
  if (names.length === 0) note(`${customers} has no customers.`)
  await print(names.map((name) => `${shown(name)}\n`).join(''))
  return 0
}

export async function check(argv: FileOption): Promise<number> {
  const customers = await pathOf(argv)
  const source = await openFileCredentialSource(customers, { onWarning: note, pollIntervalMs: 0 })
  note(`${customers} is right: ${source.customers().length} customer(s).`)
  await source.close()
  return 0
}

/** The file that a server with the same flags, environment and configuration file would read. */
async function pathOf({ customers, config }: FileOption): Promise<string> {
  const { HOLDFAST_CUSTOMERS, HOLDFAST_CONFIG } = process.env
  // Without the other variables: what is wrong with the server's port is not in the way of a new password.
  const environment = { HOLDFAST_CUSTOMERS, HOLDFAST_CONFIG }
  const flags = { ...(customers !== undefined && { customers }), config }
  return (await findConfig(flags, environment)).customers
}

function nameIn(argv: NameArgument): string {
  const name = onlyName(argv)
  if (name === undefined) throw new SetupError('Say the name of the customer.')
  return name
}

/** A password from standard input, or a generated one. `announce` is to be called after the file is saved. */
async function choosePassword(name: string, { 'password-stdin': isGiven }: PasswordOption) {
  if (isGiven) {
    const password = await readPassword(process.stdin)
    const announce = async () => note(`The password of "${name}" is set.`)
    return { hash: await hashPassword(password), announce }
  }
  const password = generatePassword()
  const announce = async () => {
    note(`The password of "${name}", shown only now:`)
    await print(`${password}\n`).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new SetupError(`It could not be written (${reason}), and is lost`, [
        `Make a new one: ${programName()} customers rotate ${name}`,
      ])
    })
  }
  return { hash: await hashPassword(password), announce }
}

/** For people. Standard output carries only what a script wants. */
function note(message: string): void {
  standardError().write(`${visible(message)}\n`)
}
