import { text } from 'node:stream/consumers'
import {
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
  readonly name: string
}

/** `holdfast customers …`: the administrator's edits of the customers file. */
export function customersCommands(
  yargs: Argv,
  run: (work: Promise<number>) => Promise<void>,
): Argv {
  return yargs
    .command(
      'add <name>',
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
    .command('remove <name>', 'Remove a customer; the files stay', withName, (argv) =>
      run(remove(argv)),
    )
    .command(
      'rotate <name>',
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
    demandOption: true,
    describe: 'Name of the customer',
  })
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
  const { name, quota } = argv
  return edit(argv, async (file) => {
    if (file.has(name)) {
      throw new UsageError(
        `${argv.customers} has a customer "${name}" already. A new password: holdfast customers rotate ${name}`,
      )
    }
    const { password, announce } = await choosePassword(argv)
    file.add(name, await hashPassword(password), quota === undefined ? {} : { quota })
    return announce
  })
}

async function rotate(argv: FileOption & NameArgument & PasswordOption): Promise<number> {
  return edit(argv, async (file) => {
    const { password, announce } = await choosePassword(argv)
    file.setPasswordHash(argv.name, await hashPassword(password))
    return announce
  })
}

async function remove({ customers, name }: FileOption & NameArgument): Promise<number> {
  return edit({ customers }, async (file) => {
    file.remove(name)
    return () =>
      note(`Removed the customer "${name}". The files of "${name}" are still in the store.`)
  })
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

/** Opens the file, changes and saves it; what the change returns is said only once that is safe. */
async function edit(
  { customers }: FileOption,
  change: (file: CustomersFile) => Promise<() => void>,
): Promise<number> {
  const file = await openCustomersFile(customers)
  const announce = await change(file)
  await file.save()
  announce()
  return 0
}

/** A password from standard input, or a generated one that is to be printed. */
async function choosePassword({ name, 'password-stdin': isGiven }: NameArgument & PasswordOption) {
  if (isGiven) {
    const password = (await text(process.stdin)).replace(/\r?\n$/, '')
    if (password === '') throw new UsageError('Standard input holds no password.')
    return { password, announce: () => note(`The password of "${name}" is set.`) }
  }
  const password = generatePassword()
  const announce = () => {
    note(`The password of "${name}", shown only now:`)
    process.stdout.write(`${password}\n`)
  }
  return { password, announce }
}

/** For people. Standard output carries only what a script wants. */
function note(message: string): void {
  process.stderr.write(`${message}\n`)
}
