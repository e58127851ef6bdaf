import { text } from 'node:stream/consumers'
import {
  editCustomersFile,
  generatePassword,
  hashPassword,
  openCustomersFile,
  openFileCredentialSource,
  type CustomersFile,
} from '@holdfast/credentials-file'
import type { Argv } from 'yargs'
import { UsageError } from './usage-error.ts'

interface FileOption {
  readonly customers: string
}

interface PasswordOption {
  readonly 'password-stdin': boolean
}

interface NameArgument {
  readonly name?: string | undefined
  /** Whatever stands behind `--`: yargs makes no positionals of it. */
  readonly '--'?: readonly string[]
}

/** `holdfast customers …`: the administrator's edits of the customers file. */
export function customersCommands(
  yargs: Argv,
  run: (work: Promise<number>) => Promise<void>,
): Argv {
  return yargs
    .command(
      'add [name]',
      'Make a customer, and print the generated password',
      (inner) =>
        withPassword(withName(inner))
          .option('quota', {
            type: 'string',
            requiresArg: true,
            describe: 'The most the customer may keep, such as 50GB; unlimited if unset',
          })
          .example('$0 customers add alice --quota 50GB', 'prints the password, once')
          .example('pass show alice | $0 customers add alice --password-stdin', 'takes a password'),
      (argv) => run(add(argv)),
    )
    .command('list', 'Print the names of the customers', withFile, (argv) => run(list(argv)))
    .command('remove [name]', 'Remove a customer; the files stay', withName, (argv) =>
      run(remove(argv)),
    )
    .command(
      'rotate [name]',
      'Give a customer a new password, and print it',
      (inner) => withPassword(withName(inner)),
      (argv) => run(rotate(argv)),
    )
    .command('check', 'Check the customers file', withFile, (argv) => run(check(argv)))
    .demandCommand(1, 'Say what to do: add, list, remove, rotate or check.')
    .epilog('A running server takes the changes within a second or two.')
}

function withFile(yargs: Argv) {
  return yargs.option('customers', {
    type: 'string',
    requiresArg: true,
    default: process.env['HOLDFAST_CUSTOMERS'] || './customers.yaml',
    describe: 'The customers file [$HOLDFAST_CUSTOMERS]',
  })
}

function withName(yargs: Argv) {
  return withFile(yargs).positional('name', {
    type: 'string',
    describe: 'Name of the customer; behind -- if it begins with a dash',
  })
}

/** The one name that was given, before `--` or behind it. */
function nameIn({ name, '--': rest = [] }: NameArgument): string {
  const [first, second] = [...(name === undefined ? [] : [name]), ...rest]
  if (first === undefined) throw new UsageError('Say the name of the customer.')
  if (second !== undefined) {
    throw new UsageError(
      `One name at a time: what is "${second}"? Put a name with spaces in quotes.`,
    )
  }
  return first
}

function withPassword<T>(yargs: Argv<T>) {
  return yargs.option('password-stdin', {
    type: 'boolean',
    default: false,
    describe: 'Take the password from standard input instead of making one',
  })
}

async function add(
  argv: FileOption & NameArgument & PasswordOption & { readonly quota?: string | undefined },
): Promise<number> {
  const name = nameIn(argv)
  const { customers, quota } = argv
  const refuseTaken = (file: CustomersFile) => {
    if (!file.has(name)) return
    throw new UsageError(
      `${customers} has a customer "${name}" already. A new password: holdfast customers rotate ${name}`,
    )
  }
  refuseTaken(await openCustomersFile(customers))
  const { hash, announce } = await choosePassword(name, argv)
  await editCustomersFile(customers, (file) => {
    refuseTaken(file)
    file.add(name, hash, quota === undefined ? {} : { quota })
  })
  announce()
  return 0
}

async function rotate(argv: FileOption & NameArgument & PasswordOption): Promise<number> {
  const name = nameIn(argv)
  const { hash, announce } = await choosePassword(name, argv)
  await editCustomersFile(argv.customers, (file) => file.setPasswordHash(name, hash))
  announce()
  return 0
}

async function remove(argv: FileOption & NameArgument): Promise<number> {
  const name = nameIn(argv)
  await editCustomersFile(argv.customers, (file) => file.remove(name))
  note(`Removed the customer "${name}". The files of "${name}" are still in the store.`)
  return 0
}

async function list({ customers }: FileOption): Promise<number> {
  const file = await openCustomersFile(customers)
  for (const name of file.names()) process.stdout.write(`${name}\n`)
  return 0
}

async function check({ customers }: FileOption): Promise<number> {
  const source = await openFileCredentialSource(customers, { onWarning: note, pollIntervalMs: 0 })
  note(`${customers} is right: ${source.customers().length} customer(s).`)
  await source.close()
  return 0
}

/** A password from standard input, or a generated one that is to be printed; said only once it is safe in the file. */
async function choosePassword(name: string, { 'password-stdin': isGiven }: PasswordOption) {
  if (isGiven) {
    const password = (await text(process.stdin)).replace(/\r?\n$/, '')
    if (password === '') throw new UsageError('Standard input holds no password.')
    const announce = () => note(`The password of "${name}" is set.`)
    return { hash: await hashPassword(password), announce }
  }
  const password = generatePassword()
  const announce = () => {
    note(`The password of "${name}", shown only now:`)
    process.stdout.write(`${password}\n`)
  }
  return { hash: await hashPassword(password), announce }
}

/** For people. Standard output carries only what a script wants. */
function note(message: string): void {
  process.stderr.write(`${message}\n`)
}
