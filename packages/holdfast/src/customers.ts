import type { Argv } from 'yargs'
import { settings } from '@holdfast/server/config'

/** What may come after `holdfast customers`. */
export const customersCommandNames = ['add', 'list', 'remove', 'rotate', 'check']

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
          .option('max-files', {
            type: 'string',
            requiresArg: true,
            describe: 'The most files the customer may keep, such as 10000; unlimited if unset',
          })
          .example('$0 customers add alice --quota 50GB', 'prints the password, once')
          .example('pass show alice | $0 customers add alice --password-stdin', 'takes a password'),
      (argv) => run(edits().then(({ add }) => add(argv))),
    )
    .command('list', 'Print the names of the customers', withFile, (argv) =>
      run(edits().then(({ list }) => list(argv))),
    )
    .command('remove [name]', 'Remove a customer; the files stay', withName, (argv) =>
      run(edits().then(({ remove }) => remove(argv))),
    )
    .command(
      'rotate [name]',
      'Give a customer a new password, and print it',
      (inner) => withPassword(withName(inner)),
      (argv) => run(edits().then(({ rotate }) => rotate(argv))),
    )
    .command('check', 'Check the customers file', withFile, (argv) =>
      run(edits().then(({ check }) => check(argv))),
    )
    .demandCommand(1, 'Say what to do: add, list, remove, rotate or check.')
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
    describe: 'Name of the customer; behind -- if it begins with a dash',
  })
}

function withPassword<T>(yargs: Argv<T>) {
  return yargs.option('password-stdin', {
    type: 'boolean',
    default: false,
    describe: 'Take the password from standard input instead of making one',
  })
}

/** Loaded when one is to be made, since it needs much that the client does without. */
const edits = () => import('./customers/edits.ts')
