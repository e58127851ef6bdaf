import { randomBytes } from 'node:crypto'
import {
  formatBytes,
  loginName,
  rights,
  rightSets,
  SetupError,
  type Credential,
  type Right,
  messageOf,
} from '@holdfast/core'
import type {
  ChangedCustomerFields,
  CustomersFile,
  NewCustomerFields,
} from '@holdfast/credentials-file'
import { headerProblem, programName } from '@holdfast/credentials-file/messages'
import { findConfig, settings } from '@holdfast/server/config'
import { visible } from '@holdfast/server/visible'
import type { Argv } from 'yargs'
import { describeRevokeLinks, revokeLinks, type RevokeLinksFlags } from './revoke-links.ts'
import { type NameArgument, onlyName } from './flags.ts'
import { readPassword } from './terminal/ask.ts'
import { print, shown, standardError } from './terminal/print.ts'

/** The words that may follow `holdfast customers`. */
export const customersCommandNames = [
  'add',
  'set',
  'list',
  'remove',
  'rotate',
  'revoke-links',
  'check',
]

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
        withPassword(withFields(withLogin(withName(inner))))
          .example('$0 customers add alice --quota 50GB', 'prints the password, once')
          .example(
            '$0 customers add alice --login backup --may append-only',
            'logs in as alice/backup',
          )
          .example('pass show alice | $0 customers add alice --password-stdin', 'takes a password'),
      (argv) => run(add(argv)),
    )
    .command(
      'set [name]',
      'Change what a customer, or a login, may keep and do; "none" removes a limit',
      (inner) =>
        withFields(withLogin(withName(inner)))
          .example('$0 customers set alice --quota 100GB --keep-replaced 30d', 'changes two fields')
          .example('$0 customers set alice --login ci --until none', 'lets the login go on'),
      (argv) => run(set(argv)),
    )
    .command(
      'list',
      'Print the names of the customers',
      (inner) =>
        withFile(inner)
          .option('logins', {
            type: 'boolean',
            default: false,
            describe: 'Print further logins, too, as CUSTOMER/LOGIN',
          })
          .option('details', {
            type: 'boolean',
            default: false,
            describe: 'Print what each may keep and do, after its name',
          }),
      (argv) => run(list(argv)),
    )
    .command(
      'remove [name]',
      'Remove a customer, or only a login; the files stay',
      (inner) => withLogin(withName(inner)),
      (argv) => run(remove(argv)),
    )
    .command(
      'rotate [name]',
      'Give a customer, or a login, a new password, and print it',
      (inner) => withPassword(withLogin(withName(inner))),
      (argv) => run(rotate(argv)),
    )
    .command(
      'revoke-links [name]',
      'End all links that a customer has made',
      describeRevokeLinks,
      (argv) => run(revokeLinks(argv as RevokeLinksFlags)),
    )
    .command('check', 'Check the customers file', withFile, (argv) => run(check(argv)))
    .demandCommand(1, 'Say what to do: add, set, list, remove, rotate, revoke-links or check.')
    .epilog('A running server takes the changes within a second or two.')
}

function withFile(yargs: Argv) {
  return yargs
    .option('customers', {
      type: 'string',
      requiresArg: true,
      defaultDescription: settings.customers.default,
      describe: 'The customers file [$HOLDFAST_CUSTOMERS]',
    })
    .option('config', {
      type: 'string',
      requiresArg: true,
      describe:
        'Configuration file of the server, which may name the customers file [$HOLDFAST_CONFIG]',
    })
}

function withName(yargs: Argv) {
  return withFile(yargs).positional('name', {
    type: 'string',
    describe: 'Name of the customer; after -- if it begins with a dash',
  })
}

function withLogin<T>(yargs: Argv<T>) {
  return yargs.option('login', {
    type: 'string',
    requiresArg: true,
    describe: 'A further login of the customer, which logs in as CUSTOMER/LOGIN',
  })
}

function withFields<T>(yargs: Argv<T>) {
  return yargs
    .option('quota', {
      type: 'string',
      requiresArg: true,
      describe: 'The most the customer may keep, such as 50GB; unlimited if unset',
    })
    .option('max-files', {
      type: 'string',
      requiresArg: true,
      describe: 'The most files the customer may keep, such as 10000; unlimited if unset',
    })
    .option('expire-after', {
      type: 'string',
      requiresArg: true,
      describe: 'How long after their last change files are deleted, such as 30d; never if unset',
    })
    .option('keep-replaced', {
      type: 'string',
      requiresArg: true,
      describe:
        'How long what is replaced or deleted can be restored, such as 30d, or off; as the server says if unset',
    })
    .option('webhook', {
      type: 'string',
      requiresArg: true,
      describe:
        'URL that gets an event for each change of the customer; makes a secret that signs them, and prints it',
    })
    .option('may', {
      type: 'string',
      requiresArg: true,
      describe: `What it may do: ${Object.keys(rightSets).join(', ')}, or some of ${rights.join(',')}; everything if unset`,
    })
    .option('until', {
      type: 'string',
      requiresArg: true,
      describe: 'The last day of a login (UTC), such as 2027-01-31; without end if unset',
    })
}

function withPassword<T>(yargs: Argv<T>) {
  return yargs.option('password-stdin', {
    type: 'boolean',
    default: false,
    describe: 'Take the password from standard input instead of making one',
  })
}

/** Loaded when needed: help and the client do without it, and the YAML parser takes a tenth of a second to load. */
const customersFiles = () => import('@holdfast/credentials-file')

interface FileOption {
  readonly customers?: string | undefined
  readonly config?: string | undefined
}

interface PasswordOption {
  readonly 'password-stdin': boolean
}

interface LoginOption {
  readonly login?: string | undefined
}

interface FieldOptions {
  readonly quota?: string | undefined
  readonly 'max-files'?: string | undefined
  readonly 'expire-after'?: string | undefined
  readonly 'keep-replaced'?: string | undefined
  readonly webhook?: string | undefined
  readonly may?: string | undefined
  readonly until?: string | undefined
}

async function add(
  argv: FileOption & NameArgument & LoginOption & PasswordOption & FieldOptions,
): Promise<number> {
  const name = nameIn(argv)
  const webhook = signedWebhook(argv)
  const fields = { ...fieldsIn(argv), ...(webhook && { webhook }) }
  const customers = await pathOf(argv)
  const problem = headerProblem(name)
  if (problem !== undefined) {
    throw new SetupError(`The name "${name}" ${problem}`, ['Choose another.'])
  }
  const refuseTaken = (file: CustomersFile) => {
    if (!file.has(name)) return
    const what = name.includes('/') ? 'login' : 'customer'
    throw new SetupError(`${customers} has a ${what} "${name}" already`, [
      `A new password: ${programName()} customers rotate ${name}`,
    ])
  }
  const { editCustomersFile, openCustomersFile } = await customersFiles()
  refuseTaken(await openCustomersFile(customers))
  const { hash, announce } = await choosePassword(name, argv)
  await editCustomersFile(customers, (file) => {
    refuseTaken(file)
    file.add(name, hash, fields)
  })
  await announce()
  await announceSecret(name, webhook)
  return 0
}

/** The receiver of events that is given, with a new secret. */
function signedWebhook({ webhook: url }: FieldOptions): NewCustomerFields['webhook'] {
  if (url === undefined) return undefined
  return { url, secret: `whsec_${randomBytes(32).toString('base64')}` }
}

async function announceSecret(name: string, webhook: NewCustomerFields['webhook']): Promise<void> {
  if (webhook === undefined) return
  note(`The secret that signs the events of "${name}":`)
  await print(`${webhook.secret}\n`)
}

/** The fields that are given, but for the webhook, as the customers file calls them. */
function fieldsIn(argv: FieldOptions): NewCustomerFields {
  const { quota, 'max-files': maxFiles, 'expire-after': expireAfter, may, until } = argv
  const { 'keep-replaced': keepReplaced } = argv
  return {
    ...(quota !== undefined && { quota }),
    ...(maxFiles !== undefined && { maxFiles }),
    ...(expireAfter !== undefined && { expireAfter }),
    ...(keepReplaced !== undefined && { keepReplaced }),
    ...(may !== undefined && { may: rightsIn(may) }),
    ...(until !== undefined && { until }),
  }
}

async function set(argv: FileOption & NameArgument & LoginOption & FieldOptions): Promise<number> {
  const name = nameIn(argv)
  const given = Object.entries(fieldsIn(argv))
  const isEnded = argv.webhook === 'none'
  const webhook = isEnded ? undefined : signedWebhook(argv)
  if (given.length === 0 && argv.webhook === undefined) {
    throw new SetupError('Say what to change.', [`Such as --quota 50GB, or --may read-only.`])
  }
  const fields: ChangedCustomerFields = {
    ...Object.fromEntries(given.map(([field, value]) => [field, value === 'none' ? null : value])),
    ...(isEnded && { webhook: null }),
    ...(webhook && { webhook }),
  }
  const { editCustomersFile } = await customersFiles()
  await editCustomersFile(await pathOf(argv), (file) => file.set(name, fields))
  note(`Changed ${name.includes('/') ? 'the login' : 'the customer'} "${name}".`)
  await announceSecret(name, webhook)
  return 0
}

/** A list where it is not one of the words. */
function rightsIn(may: string): string | readonly string[] {
  const isList = may.includes(',') || rights.some((right) => right === may)
  return isList ? may.split(',').map((right) => right.trim()) : may
}

async function rotate(
  argv: FileOption & NameArgument & LoginOption & PasswordOption,
): Promise<number> {
  const name = nameIn(argv)
  const { hash, announce } = await choosePassword(name, argv)
  const { editCustomersFile } = await customersFiles()
  await editCustomersFile(await pathOf(argv), (file) => file.setPasswordHash(name, hash))
  await announce()
  return 0
}

async function remove(argv: FileOption & NameArgument & LoginOption): Promise<number> {
  const name = nameIn(argv)
  const { editCustomersFile } = await customersFiles()
  await editCustomersFile(await pathOf(argv), (file) => file.remove(name))
  note(
    name.includes('/')
      ? `Removed the login "${name}".`
      : `Removed the customer "${name}". The files of "${name}" are still in the store.`,
  )
  return 0
}

async function list(
  argv: FileOption & { readonly logins: boolean; readonly details: boolean },
): Promise<number> {
  const customers = await pathOf(argv)
  const { openCustomersFile, openFileCredentialSource } = await customersFiles()
  if (argv.details) {
    const source = await openFileCredentialSource(customers, { onWarning: note, pollIntervalMs: 0 })
    const listed = source.all().filter(({ login }) => argv.logins || login === undefined)
    await source.close()
    const receivers = source.webhooks()
    const lines = listed.map((one) => {
      const url = receivers.get(one.name)?.url
      const webhook = url === undefined ? '' : `  --webhook ${shown(url)}`
      return `${shown(one.name)}${detailsOf(one)}${webhook}\n`
    })
    await print(lines.join(''))
    return 0
  }
  const file = await openCustomersFile(customers)
  const names = argv.logins ? file.loginNames() : file.names()
  if (names.length === 0) note(`${customers} has no customers.`)
  await print(names.map((name) => `${shown(name)}\n`).join(''))
  return 0
}

/** What a customer or login may keep and do, as the flags that say so. */
function detailsOf(credential: Credential): string {
  const { quota, maxFiles, expireAfterMs, keepReplacedMs, may, endsAtMs, login } = credential
  const own = login === undefined
  const flags = [
    own && quota !== undefined && `--quota ${formatBytes(quota).replace(' ', '')}`,
    own && maxFiles !== undefined && `--max-files ${maxFiles}`,
    own && expireAfterMs !== undefined && `--expire-after ${shortPeriod(expireAfterMs)}`,
    own && keepReplacedMs !== undefined && `--keep-replaced ${shortPeriod(keepReplacedMs)}`,
    may !== undefined && `--may ${setNameOf(may) ?? may.join(',')}`,
    endsAtMs !== undefined && `--until ${new Date(endsAtMs).toISOString()}`,
  ].filter((flag) => flag !== false)
  return flags.map((flag) => `  ${flag}`).join('')
}

function setNameOf(may: readonly Right[]): string | undefined {
  const isSame = (set: readonly Right[]) =>
    set.length === may.length && set.every((right) => may.includes(right))
  return Object.entries(rightSets).find(([, set]) => isSame(set))?.[0]
}

function shortPeriod(ms: number): string {
  if (ms === 0) return 'off'
  if (ms % 86_400_000 === 0) return `${ms / 86_400_000}d`
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${Math.round(ms / 60_000)}m`
}

async function check(argv: FileOption): Promise<number> {
  const customers = await pathOf(argv)
  const { openFileCredentialSource } = await customersFiles()
  const source = await openFileCredentialSource(customers, { onWarning: note, pollIntervalMs: 0 })
  const count = source.customers().length
  const further = source.all().length - count
  const logins = further > 0 ? `, ${further} further login(s)` : ''
  note(`${customers} is valid: ${count} customer(s)${logins}.`)
  for (const { name, login, expireAfterMs, keepReplacedMs } of source.all()) {
    if (login !== undefined) continue
    if (expireAfterMs !== undefined) {
      const period = periodOf(expireAfterMs)
      note(
        `Files of "${name}" are deleted ${period} after their last change; the server logs how many, a day before.`,
      )
    }
    if (keepReplacedMs === 0) note(`What is replaced or deleted of "${name}" is gone at once.`)
    else if (keepReplacedMs !== undefined) {
      const period = periodOf(keepReplacedMs)
      note(`What is replaced or deleted of "${name}" can be restored for ${period}.`)
    }
    const { url } = source.webhooks().get(name) ?? {}
    const needs = `--audit-log${url?.startsWith('http:') ? ' and --webhook-allow-private' : ''}`
    if (url !== undefined) note(`The webhook of "${name}" gets events if the server has ${needs}.`)
  }
  await source.close()
  return 0
}

function periodOf(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes % 1440 === 0) return `${minutes / 1440} day(s)`
  return minutes % 60 === 0 ? `${minutes / 60} hour(s)` : `${minutes} minute(s)`
}

/** The file that a server with the same flags, environment and configuration file would read. */
async function pathOf({ customers, config }: FileOption): Promise<string> {
  const { HOLDFAST_CUSTOMERS, HOLDFAST_CONFIG } = process.env
  // Reads no other variables: a wrong port of the server must not prevent a new password.
  const environment = { HOLDFAST_CUSTOMERS, HOLDFAST_CONFIG }
  const flags = { ...(customers !== undefined && { customers }), config }
  return (await findConfig(flags, environment)).customers
}

/** The name of the customer, or `CUSTOMER/LOGIN`, which may be given as one word, too. */
function nameIn(argv: NameArgument & LoginOption): string {
  const name = onlyName(argv)
  if (name === undefined) throw new SetupError('Say the name of the customer.')
  const { login } = argv
  if (login === undefined) return name
  if (name.includes('/') || login.includes('/')) {
    throw new SetupError(`The name of a customer or login has no "/": "${name}" and "${login}".`)
  }
  return loginName({ name, login })
}

/** A password from standard input, or a generated one. The caller calls `announce` after it has saved the file. */
async function choosePassword(name: string, { 'password-stdin': isGiven }: PasswordOption) {
  const { generatePassword, hashPassword } = await import('@holdfast/passwords')
  if (isGiven) {
    const password = await readPassword(process.stdin)
    const announce = async () => note(`The password of "${name}" is set.`)
    return { hash: await hashPassword(password), announce }
  }
  const password = generatePassword()
  const announce = async () => {
    note(`The password of "${name}", shown only now:`)
    await print(`${password}\n`).catch((error: unknown) => {
      const reason = messageOf(error)
      throw new SetupError(`The password could not be written (${reason}), and is lost`, [
        `Make a new one: ${programName()} customers rotate ${name}`,
      ])
    })
  }
  return { hash: await hashPassword(password), announce }
}

/** Writes a message for people. Standard output carries only what a script needs. */
function note(message: string): void {
  standardError().write(`${visible(message)}\n`)
}
