import { completion } from '../completion/completion.ts'
import {
  type ClientVerb,
  withJson,
  withConcurrency,
  withWords,
  withNames,
} from './verb/client-verb.ts'

/** `holdfast login URL`. */
const login: ClientVerb = {
  command: 'login [url]',
  describe: 'Keep the name and the password for a server',
  flags: ['name', 'password-stdin'],
  options: (yargs) =>
    withJson(yargs)
      .positional('url', { type: 'string', describe: 'Such as https://files.example.com' })
      .option('name', {
        type: 'string',
        requiresArg: true,
        describe: 'The customer; asked for on the terminal without it',
      })
      .option('password-stdin', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Take the password from standard input instead of the terminal',
      })
      .example('$0 login https://files.example.com', 'asks for name and password')
      .example(
        'pass show files | $0 login https://files.example.com --name alice --password-stdin',
        '',
      )
      .epilog(
        'The server is asked first whether it takes them. They are kept in $XDG_CONFIG_HOME/holdfast/profile.json, which only you may read. Instead of a login, HOLDFAST_URL, HOLDFAST_NAME and HOLDFAST_PASSWORD (or HOLDFAST_PASSWORD_FILE) may be set.',
      ),
  run: async (argv) => (await import('./login/login.ts')).runLogin(argv),
}

/** `holdfast logout`. */
const logout: ClientVerb = {
  command: 'logout',
  describe: 'Forget the name and the password',
  flags: [],
  options: withJson,
  run: async ({ json }) => (await import('./login/login.ts')).runLogout(json === true),
}

/** `holdfast put FILE…`. */
const put: ClientVerb = {
  command: 'put [names..]',
  describe: 'Upload files',
  flags: ['as', 'no-clobber', 'concurrency'],
  options: (yargs) =>
    withConcurrency(withJson(withWords(yargs, 'Files of this machine; - for standard input')))
      .option('as', {
        type: 'string',
        requiresArg: true,
        describe: 'The name on the server, for one file; without it, the last part of the path',
      })
      .option('no-clobber', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Replace no file: one whose name is taken fails',
      })
      .example('$0 put *.jpg', '')
      .example('tar c dir | $0 put - --as dir.tar', '')
      .epilog(
        'A file that is reported as stored is safe. The same command again goes on with a large file where it stopped. Directories are refused: name their files, such as dir/*, or see sync.',
      ),
  run: async (argv) => (await import('./put/put.ts')).runPut(argv),
}

/** `holdfast get NAME…`. */
const get: ClientVerb = {
  command: 'get [names..]',
  describe: 'Download files',
  flags: ['output', 'force', 'concurrency'],
  options: (yargs) =>
    withConcurrency(withNames(yargs, 'Files on the server, or patterns such as "*.jpg"'))
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'A directory, or the path of one file, or - for standard output; by default here',
      })
      .option('force', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Replace files of this machine that differ, without a question',
      })
      .example('$0 get "*.jpg" -o pictures/', '')
      .epilog(
        'A file appears when all of it is there and synced. One of that name that differs is replaced only with --force, after a question on a terminal, or where -o names the file itself. Until then it is beside it as .holdfast-….part; the same command again goes on with a large one where it stopped, unless the file on the server is another one by then.',
      ),
  run: async (argv) => (await import('./get/get.ts')).runGet(argv),
}

/** `holdfast cat NAME…`. */
const cat: ClientVerb = {
  command: 'cat [names..]',
  describe: 'Print the content of files',
  flags: [],
  options: (yargs) =>
    withNames(yargs, 'Files on the server, or patterns such as "*.log"').example(
      '$0 cat notes.txt | less',
      '',
    ),
  run: async (argv) => (await import('./get/cat.ts')).runCat(argv),
}

/** `holdfast ls [PREFIX]`. */
const ls: ClientVerb = {
  command: 'ls [prefix]',
  describe: 'List files',
  flags: ['long'],
  options: (yargs) =>
    withJson(yargs)
      .positional('prefix', {
        type: 'string',
        describe:
          'Only names that begin with this; with * ? or [ in it, only names that match as a whole',
      })
      .option('long', {
        alias: 'l',
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Show sizes and times, too',
      })
      .option('literal', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Take *, ? and [ as they are',
      })
      .example('$0 ls', 'the names of all files, in the order of their bytes')
      .example('$0 ls -l holiday-', 'those that begin so, with sizes and times')
      .example("$0 ls '*.jpg' --json", 'those that end so, for a program')
      .epilog('If a prefix or a pattern is given and no file has it, the exit code is 4.'),
  run: async (argv) => (await import('./files/ls.ts')).runLs(argv),
}

/** `holdfast stat NAME…`. */
const stat: ClientVerb = {
  command: 'stat [names..]',
  describe: 'Show what is known of files',
  flags: [],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; * ? and [ stand for others; after -- if one begins with a dash',
    )
      .example('$0 stat notes.txt', 'size, time, type and entity tag')
      .example('$0 stat notes.txt --json', 'for a program'),
  run: async (argv) => (await import('./files/stat.ts')).runStat(argv),
}

/** `holdfast rm NAME…`. */
const rm: ClientVerb = {
  command: 'rm [names..]',
  describe: 'Delete files',
  flags: [],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; * ? and [ stand for others; after -- if one begins with a dash',
    )
      .example('$0 rm notes.txt', 'deletes it for good')
      .example("$0 rm 'holiday-*.jpg'", 'all that match; the quotes keep the shell from reading it')
      .epilog(
        'Nothing is asked. A name or a pattern that has no file ends with 4; the others are deleted.',
      ),
  run: async (argv) => (await import('./files/rm.ts')).runRm(argv),
}

/** `holdfast link NAME…`. */
const link: ClientVerb = {
  command: 'link [names..]',
  describe: 'Make links that open files without a password',
  flags: ['expires-in', 'inline', 'upload', 'prefix', 'max-files', 'max-size', 'replace'],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; * ? and [ stand for others; after -- if one begins with a dash',
    )
      .option('expires-in', {
        type: 'string',
        requiresArg: true,
        defaultDescription: '1h',
        describe: 'How long the link is good, such as 30m, 12h or 7d',
      })
      .option('inline', {
        type: 'boolean',
        describe:
          'Have browsers show pictures, audio, video, plain text and PDF instead of saving them',
      })
      .option('upload', {
        type: 'boolean',
        describe: 'Make a link by which others upload a file of this name, which need not exist',
      })
      .option('prefix', {
        type: 'boolean',
        group: 'With --upload:',
        describe: 'Take many files, whose names begin with NAME',
      })
      .option('max-files', {
        type: 'string',
        requiresArg: true,
        group: 'With --upload:',
        defaultDescription: '100',
        describe: 'With --prefix: the most files there may be whose names begin so',
      })
      .option('max-size', {
        type: 'string',
        requiresArg: true,
        group: 'With --upload:',
        describe: 'The largest file, such as 50MB',
      })
      .option('replace', {
        type: 'boolean',
        group: 'With --upload:',
        describe: 'Let uploads replace files; without it they only create',
      })
      .example('$0 link notes.txt --expires-in 7d', 'whoever has the link may download the file')
      .example('$0 link from-bob- --upload --prefix --max-size 50MB', 'Bob may send files')
      .epilog(
        'The links are on standard output, one a line. A link cannot be taken back; all of a customer end with a new password.',
      ),
  run: async (argv) => (await import('./files/link.ts')).runLink(argv),
}

/** `holdfast du`. */
const du: ClientVerb = {
  command: 'du',
  describe: 'Show how much is kept, and how much may be',
  flags: [],
  options: (yargs) =>
    withJson(yargs)
      .example('$0 du', 'files and bytes, with the limits that the server has for you')
      .example('$0 du --json', 'for a program'),
  run: async (argv) => (await import('./files/du.ts')).runDu(argv),
}

/** `holdfast sync DIR`. */
const sync: ClientVerb = {
  command: 'sync [names..]',
  describe: 'Send what is new or changed in a directory',
  flags: ['into', 'concurrency', 'dry-run', 'delete', 'max-delete'],
  options: (yargs) =>
    withConcurrency(withJson(withWords(yargs, 'The directory')))
      // Each of them may hold a form of small files.
      .default('concurrency', '4')
      .option('into', {
        type: 'string',
        requiresArg: true,
        describe:
          'A folder that the names on the server begin with: "photos" makes "photos - a.jpg" of a.jpg',
      })
      .option('dry-run', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Print what would be sent and deleted, and change nothing',
      })
      .option('delete', {
        type: 'boolean',
        default: false,
        defaultDescription: 'no',
        describe: 'Delete files on the server that are not in the directory',
      })
      .option('max-delete', {
        type: 'string',
        requiresArg: true,
        defaultDescription: '100',
        describe: 'With --delete: change nothing if more files than this would be deleted',
      })
      .example('$0 sync ./photos --into photos', 'photos/sea/a.jpg becomes "photos - sea - a.jpg"')
      .example('$0 sync ./photos --into photos --delete --dry-run', '')
      .epilog(
        'Names have no slash, so those of a path are joined by " - ". Symbolic links and special files are not sent. The same command again goes on where an earlier one ended.',
      ),
  run: async (argv) => (await import('./sync/sync.ts')).runSync(argv),
}

/** Every command that speaks to a server, in the order of the help. */
export const clientVerbs: readonly ClientVerb[] = [
  login,
  logout,
  put,
  get,
  cat,
  ls,
  stat,
  rm,
  link,
  du,
  sync,
  completion,
]

/** The words by which they are called. */
export const verbNames = clientVerbs.map(nameOf)

/** What yargs takes for the command: the first word that is no flag. */
export function commandIn(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-'))
}

/** The verb that is the command, if it is one. */
export function clientVerbIn(args: readonly string[]): ClientVerb | undefined {
  const word = commandIn(args)
  return clientVerbs.find((verb) => nameOf(verb) === word)
}

function nameOf({ command }: ClientVerb): string {
  return command.split(' ', 1)[0] ?? ''
}
