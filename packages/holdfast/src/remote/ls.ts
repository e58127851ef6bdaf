import type { Client, ListOptions, Usage, FileDetails } from '@holdfast/client'
import { formatBytes } from '@holdfast/core'
import { CommandError, usageError, exitCodes } from './errors.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  textIn,
  withJson,
  withNames,
} from './client-verb.ts'
import { createMatcher, fixedStart, isPattern } from './selection.ts'
import { refuseStrayWords } from '../flags.ts'
import { localTime, sizeWithBytes, colouredName, shown } from '../terminal/print.ts'
import { createTotal } from './report.ts'
import { explainingMissingHistory } from './history.ts'
import { withRemote } from './session.ts'
import { off } from '../terminal/yargs.ts'
import { expandNames, forEachName } from './names.ts'
import { hashContent } from './sync/transfers.ts'

/** `holdfast ls [PREFIX]`. */
export const ls: ClientVerb = {
  command: 'ls [prefix]',
  describe: 'List files',
  flags: ['long', 'sort', 'reverse', 'deleted'],
  options: (yargs) =>
    withJson(yargs)
      .positional('prefix', {
        type: 'string',
        describe:
          'Only names that begin with this; with * ? or [ in it, only names that match as a whole',
      })
      .option('long', {
        alias: 'l',
        ...off,
        describe: 'Show sizes and times, too',
      })
      .option('sort', {
        choices: ['name', 'size', 'time'],
        default: 'name',
        describe: 'By name, by size with the largest first, or by time with the newest first',
      })
      .option('reverse', {
        alias: 'r',
        ...off,
        describe: 'In the opposite order',
      })
      .option('deleted', {
        ...off,
        describe:
          'List the deleted files that the server keeps; their time is that of the deletion',
      })
      .option('literal', { ...off, describe: 'Take *, ? and [ literally' })
      .example('$0 ls', 'the names of all files, in the order of their bytes')
      .example('$0 ls -l holiday-', 'names that begin so, with sizes and times')
      .example('$0 ls -l --sort time', 'the newest file first')
      .example("$0 ls '*.jpg' --json", 'names that end so, for a program')
      .example('$0 ls --deleted -l', 'what `restore` can bring back')
      .epilog(
        'If no file matches a prefix or a pattern, the exit code is 4. A terminal also gets the number of files, with -l and their size, and colours for images, sound and archives, unless NO_COLOR is set.',
      ),
  run: runLs,
}

/** Prints a line for each file as it comes; resolves with the exit code. */
function runLs(argv: VerbArguments): Promise<number> {
  const word = wordIn(argv)
  const { prefix, isMatch } = selectionOf(word, argv.literal === true)
  const order = textIn(argv, 'sort') ?? 'name'
  const isReverse = argv['reverse'] === true
  const isLong = argv.json === true || argv['long'] === true
  const hasDetails = isLong || order !== 'name'
  return withRemote(argv, async ({ client, report, signal }) => {
    let count = 0
    const total = createTotal()
    const options = { prefix, signal }
    const present = () =>
      hasDetails ? detailedRows(client, options, isLong) : rows(client, options)
    const all = argv['deleted'] === true ? deletedRows(client, options, isLong) : present()
    const matching = matchingRows(all, isMatch)
    const isAsListed = order === 'name' && !isReverse
    for await (const row of isAsListed ? matching : await sorted(matching, order, isReverse)) {
      count++
      total.add(row.size ?? 0)
      await report.result(row.fields, row.text)
    }
    // Scripts want only names.
    const sum = isLong ? total.text() : count > 1 ? `${count} files` : undefined
    if (sum !== undefined && process.stdout.isTTY) report.total(sum)
    if (count > 0 || word === undefined) return
    await report.failed(word, new CommandError(exitCodes.notFound, 'No file matches.'))
  })
}

interface Row {
  readonly name: string
  readonly fields: object
  readonly text: string
  /** By which the row is sorted, where that is not the name: the largest comes first. */
  readonly size?: number
  readonly time?: number
}

async function* matchingRows(
  all: AsyncIterable<Row>,
  isMatch: (name: string) => boolean,
): AsyncGenerator<Row, void> {
  for await (const row of all) if (isMatch(row.name)) yield row
}

/** All rows in an order that only the whole list shows. Equal ones stay in the order of their names. */
async function sorted(
  rowsByName: AsyncIterable<Row>,
  order: string,
  isReverse: boolean,
): Promise<readonly Row[]> {
  const key = order === 'size' ? 'size' : 'time'
  const all: Row[] = []
  for await (const row of rowsByName) all.push(row)
  if (order !== 'name') all.sort((one, other) => (other[key] ?? 0) - (one[key] ?? 0))
  return isReverse ? all.reverse() : all
}

async function* rows(client: Client, options: ListOptions): AsyncGenerator<Row, void> {
  for await (const name of client.list(options))
    yield { name, fields: { name }, text: coloured(name) }
}

async function* detailedRows(
  client: Client,
  options: ListOptions,
  isLong: boolean,
): AsyncGenerator<Row, void> {
  for await (const details of client.listDetails(options)) {
    const { name, size, modified, expires } = details
    const until = expires === undefined ? '' : `  until ${localTime(expires)}`
    const long = () =>
      `${formatBytes(size).padStart(7)}  ${localTime(modified)}${until}  ${coloured(name)}`
    const text = isLong ? long() : coloured(name)
    yield { name, fields: details, text, size, time: Date.parse(modified) }
  }
}

async function* deletedRows(
  client: Client,
  options: ListOptions,
  isLong: boolean,
): AsyncGenerator<Row, void> {
  for await (const file of explainingMissingHistory(client.deleted(options))) {
    const { name, size, modified, deleted } = file
    const long = () =>
      `${formatBytes(size).padStart(7)}  ${localTime(modified)}  deleted ${localTime(deleted)}  ${coloured(name)}`
    const text = isLong ? long() : coloured(name)
    yield { name, fields: file, text, size, time: Date.parse(deleted) }
  }
}

const coloured = (name: string) => colouredName(name, shown(name))

interface Selection {
  readonly prefix: string | undefined
  readonly isMatch: (name: string) => boolean
}

function selectionOf(word: string | undefined, isLiteral: boolean): Selection {
  if (word === undefined || isLiteral || !isPattern(word)) {
    return { prefix: word, isMatch: () => true }
  }
  const isMatch = createMatcher(word)
  return { prefix: fixedStart(word), isMatch: (name) => name === word || isMatch(name) }
}

/** The prefix, before or after `--`. */
function wordIn(argv: VerbArguments): string | undefined {
  const prefix = textIn(argv, 'prefix')
  const [word, second] = namesIn({ ...argv, names: prefix === undefined ? [] : [prefix] })
  if (second === undefined) return word
  throw usageError(`Only one prefix is allowed, and "${second}" is another`, [
    'Put a pattern in quotes, so that the shell leaves it alone.',
  ])
}

/** `holdfast du`. */
export const du: ClientVerb = {
  command: 'du',
  describe: 'Show how much is stored, and the limits',
  flags: [],
  options: (yargs) =>
    withJson(yargs)
      .example('$0 du', 'files and bytes, with your limits')
      .example('$0 du --json', 'for a program'),
  run: runDu,
}

/** Prints what the customer keeps and may keep; resolves with the exit code. */
function runDu(argv: VerbArguments): Promise<number> {
  refuseStrayWords(argv)
  return withRemote(argv, async ({ client, report, signal }) => {
    const usage = await client.usage({ signal })
    await report.result(usage, usageText(usage))
  })
}

/** What a customer keeps and may keep, in a line for each fact. */
export function usageText({ files, bytes, quota, maxFiles, unfinished, kept }: Usage): string {
  const share = quota === undefined ? '' : ` of ${formatBytes(quota)} (${percent(bytes, quota)})`
  return [
    `size        ${sizeWithBytes(bytes)}${share}`,
    `files       ${files}${maxFiles === undefined ? '' : ` of ${maxFiles}`}`,
    ...(unfinished.uploads === 0
      ? []
      : [
          `unfinished  ${unfinished.uploads} ${unfinished.uploads === 1 ? 'upload' : 'uploads'} with ${sizeWithBytes(unfinished.bytes)}`,
        ]),
    ...(kept === undefined || kept.versions === 0
      ? []
      : [
          `versions    ${kept.versions} earlier ${kept.versions === 1 ? 'version' : 'versions'} with ${sizeWithBytes(kept.bytes)}, outside the quota`,
        ]),
  ].join('\n')
}

/** Rounded down: 100% means that there is no room. */
function percent(bytes: number, quota: number): string {
  if (quota === 0) return '100%'
  const share = Math.floor((bytes / quota) * 100)
  return share === 0 && bytes > 0 ? '<1%' : `${share}%`
}

/** `holdfast stat NAME…`. */
export const stat: ClientVerb = {
  command: 'stat [names..]',
  describe: 'Show the details of files',
  flags: ['sha256'],
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; *, ? and [ are wildcards; after -- if one begins with a dash',
    )
      .option('sha256', { ...off, describe: 'Read each file, and show the SHA-256 of its content' })
      .example('$0 stat notes.txt', 'size, time, type and entity tag')
      .example('$0 stat notes.txt --json', 'for a program'),
  run: runStat,
}

/** Prints the details of the files named, in their order; resolves with the exit code. */
function runStat(argv: VerbArguments): Promise<number> {
  return withRemote(argv, async (remote) => {
    const { client, report } = remote
    const names = expandNames(namesIn(argv), argv, remote)
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      const details = await client.stat(name, { signal })
      if (argv['sha256'] !== true) return report.result(details, describe(details))
      const sha256 = await hashContent(client, details, signal)
      await report.result({ ...details, sha256 }, `${describe(details)}\n  sha256    ${sha256}`)
    })
  })
}

function describe({ name, size, modified, expires, type, etag }: FileDetails): string {
  return [
    shown(name),
    `  size      ${sizeWithBytes(size)}`,
    `  modified  ${localTime(modified)} (${shown(modified)})`,
    ...(expires === undefined ? [] : [`  expires   ${localTime(expires)} (${shown(expires)})`]),
    `  type      ${shown(type)}`,
    `  etag      ${shown(etag)}`,
  ].join('\n')
}
