import { type LinkRequest, isHoldfastError, pageOfLink } from '@holdfast/client'
import { parseByteSize } from '@holdfast/core'
import { parsePeriod } from '@holdfast/server/config'
import { usageError, CommandError, exitCodes } from './errors.ts'
import {
  type ClientVerb,
  type VerbArguments,
  namesIn,
  parsed,
  textIn,
  withNames,
} from './client-verb.ts'
import { expandNames, forEachName } from './names.ts'
import { localTime, shown } from '../terminal/print.ts'
import { withRemote } from './session.ts'

const ownFlags = [
  ...['expires-in', 'inline', 'page', 'upload', 'prefix', 'max-files', 'max-size', 'replace'],
  'end-all',
]

/** `holdfast link NAME…`. */
export const link: ClientVerb = {
  command: 'link [names..]',
  describe: 'Make links that open files without a password',
  flags: ownFlags,
  options: (yargs) =>
    withNames(
      yargs,
      'Names on the server; *, ? and [ are wildcards; after -- if one begins with a dash',
    )
      .option('expires-in', {
        type: 'string',
        requiresArg: true,
        defaultDescription: '1h',
        describe: 'How long the link is valid, such as 30m, 12h or 7d',
      })
      .option('inline', {
        type: 'boolean',
        describe:
          'Have browsers show pictures, audio, video, plain text and PDF instead of saving them',
      })
      .option('page', {
        type: 'boolean',
        describe:
          'Have browsers show a page about the file, with a preview and a button; other programs get the file',
      })
      .option('upload', {
        type: 'boolean',
        describe: 'Make a link by which others upload a file of this name, which need not exist',
      })
      .option('prefix', {
        type: 'boolean',
        group: 'With --upload:',
        describe: 'Accept many files, whose names begin with NAME',
      })
      .option('max-files', {
        type: 'string',
        requiresArg: true,
        group: 'With --upload:',
        defaultDescription: '100',
        describe: 'With --prefix: the most files whose names may begin so',
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
      .option('end-all', {
        type: 'boolean',
        describe: 'Instead of making a link, end all that you have made',
      })
      .example('$0 link notes.txt --expires-in 7d', 'whoever has the link may download the file')
      .example('$0 link from-bob- --upload --prefix --max-size 50MB', 'Bob may send files')
      .epilog(
        'The links are on standard output, one a line. A single link cannot be revoked; --end-all or a new password ends all links of a customer.',
      ),
  run: runLink,
}

/** Prints a link for each file named, in their order; resolves with the exit code. */
function runLink(argv: VerbArguments): Promise<number> {
  if (argv['end-all'] === true) return endAll(argv)
  const request = requestFrom(argv)
  const literal = argv.literal === true || request.verb === 'upload'
  return withRemote(argv, async (remote) => {
    const { client, report } = remote
    const names = expandNames(namesIn(argv), { literal }, remote)
    await forEachName(names, String, { ...remote, concurrency: 1 }, async (name, signal) => {
      const { url, expires } = await client
        .link(name, { ...request, signal })
        .catch((error: unknown) => {
          throw explainLinkRefusal(error, argv)
        })
      const address = argv['page'] === true ? pageOfLink(url) : url
      await report.result({ name, url: address, expires }, shown(address))
      if (argv.json !== true) report.inform(`"${name}": valid until ${localTime(expires.toJSON())}`)
    })
  })
}

/** Ends all links of the customer; resolves with the exit code. */
function endAll(argv: VerbArguments): Promise<number> {
  if (namesIn(argv).length > 0) {
    throw usageError('--end-all ends the links to all files, and takes no names')
  }
  refuse(
    argv,
    ownFlags.filter((flag) => flag !== 'end-all'),
    'is for new links: leave out --end-all',
  )
  return withRemote(argv, async ({ client, report, signal }) => {
    await client.revokeLinks({ signal })
    await report.done({ linksEnded: true }, 'Ended all links')
  })
}

/** @throws CommandError for flags that exclude each other, and for invalid values */
function requestFrom(argv: VerbArguments): LinkRequest {
  const lifetimeMs = parsed(argv, 'expires-in', parsePeriod)
  const expiresIn = lifetimeMs === undefined ? undefined : Math.ceil(lifetimeMs / 1000)
  const lifetime = { ...(expiresIn !== undefined && { expiresIn }) }
  if (argv['upload'] !== true) {
    refuse(
      argv,
      ['prefix', 'max-files', 'max-size', 'replace'],
      'is for links to upload: add --upload',
    )
    return { ...lifetime, ...(argv['inline'] === true && { inline: true }) }
  }
  refuse(argv, ['inline', 'page'], 'is for links to download: leave out --upload')
  if (argv['prefix'] !== true) refuse(argv, ['max-files'], 'is for many files: add --prefix')
  const maxFiles = parsed(argv, 'max-files', parseCount)
  const maxSize = parsed(argv, 'max-size', parseByteSize)
  return {
    verb: 'upload',
    ...lifetime,
    ...(argv['prefix'] === true && { prefix: true }),
    ...(argv['replace'] === true && { replace: true }),
    ...(maxFiles !== undefined && { maxFiles }),
    ...(maxSize !== undefined && { maxSize }),
  }
}

function refuse(argv: VerbArguments, flags: readonly string[], reason: string): void {
  const stray = flags.find((flag) => argv[flag] !== undefined && argv[flag] !== false)
  if (stray !== undefined) throw usageError(`--${stray} ${reason}.`)
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new RangeError('is not a number of files')
}

/** The flags by the fields of the API that they set. */
const flags: ReadonlyMap<string, string> = new Map([
  ['expiresIn', 'expires-in'],
  ['maxFiles', 'max-files'],
  ['maxSize', 'max-size'],
])

/** From the longest to the shortest, in seconds. */
const units: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
]

/** Translates an error of the API about a field of the link into one about the flag; returns any other error unchanged. */
export function explainLinkRefusal(error: unknown, argv: VerbArguments): unknown {
  if (!isHoldfastError(error, 'invalid-field')) return error
  const [, field = '', reason = ''] = /^Invalid (\w+): it (.*)$/.exec(error.message) ?? []
  const flag = flags.get(field)
  const text = flag === undefined ? undefined : textIn(argv, flag)
  if (text === undefined) return error
  const [, most] = /seconds from 1 to (\d+)$/.exec(reason) ?? []
  const said = most === undefined ? reason : `must be at most ${period(Number(most), text)} here`
  return new CommandError(exitCodes.failed, `--${flag} "${text}" ${said}.`, [], error)
}

/** A time in the unit of `text`, or in a shorter one if it is less than 1 of those; rounded down. */
function period(seconds: number, text: string): string {
  const own = units.findIndex(([unit]) => text.trim().endsWith(unit) && !text.endsWith('ms'))
  const [unit, length] = units.slice(own < 0 ? -1 : own).find(([, each]) => seconds >= each) ?? [
    's',
    1,
  ]
  return `${Math.floor((seconds / length) * 10) / 10}${unit}`
}
