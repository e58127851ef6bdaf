import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Argv } from 'yargs'
import { messageOf } from '@holdfast/core'
import { usageError } from './errors.ts'
import { textsIn, textIn, type VerbArguments } from './client-verb.ts'

/** The flags of {@link withSelection}. */
export const selectionFlags = ['exclude', 'include', 'files-from'] as const

/** `--exclude`, `--include` and `--files-from`; `of` says what they choose from. */
export function withSelection(
  yargs: Argv,
  of: string,
  list = `Only ${of} that this file lists`,
): Argv {
  return yargs
    .option('exclude', {
      type: 'string',
      requiresArg: true,
      describe: `Leave out ${of} that match, as in .gitignore: '*.log', 'cache/', 'a/**/b'; several times for several`,
    })
    .option('include', {
      type: 'string',
      requiresArg: true,
      describe: `Only ${of} that match, and that no --exclude leaves out; several times for several`,
    })
    .option('files-from', {
      type: 'string',
      requiresArg: true,
      describe: `${list}, one in a line; - for standard input`,
    })
}

/**
 * The selection that the patterns describe.
 *
 * @param list only these paths; `undefined`: all
 */
export function selectionIn(argv: VerbArguments, list?: readonly string[]): PathSelection {
  return selectPaths({
    include: patternsIn(argv, 'include'),
    exclude: patternsIn(argv, 'exclude'),
    paths: list && new Set(list.map(plainPath).filter((path) => path !== '')),
  })
}

/** The path in a line of a list, as `find .` writes it. */
function plainPath(line: string): string {
  return line
    .replace(/^(\.\/+)+/, '')
    .replace(/\/+$/, '')
    .replace(/^\.$/, '')
}

/**
 * The lines of `--files-from`; `undefined` without it.
 *
 * @throws CommandError if it cannot be read
 */
export async function listedIn(argv: VerbArguments): Promise<readonly string[] | undefined> {
  const file = textIn(argv, 'files-from')
  if (file === undefined) return undefined
  const content = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8')).catch(
    (error: unknown) => {
      const reason = messageOf(error)
      throw usageError(`--files-from cannot be read (${reason}).`)
    },
  )
  return content
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
}

function patternsIn(argv: VerbArguments, flag: string): readonly string[] {
  const patterns = textsIn(argv, flag)
  if (patterns.some((pattern) => /^\/*$/.test(pattern)))
    throw usageError(`--${flag} "" is no pattern.`)
  const negated = patterns.find((pattern) => pattern.startsWith('!'))
  if (negated !== undefined) {
    throw usageError(`--${flag} "${negated}": no pattern takes back what another one says.`, [
      String.raw`For a name that begins with an exclamation mark, write \!.`,
    ])
  }
  return patterns
}

/** Which files of a directory, or of a server, are meant. */
export interface PathSelection {
  /** Whether all are. */
  readonly isWhole: boolean
  /** Whether the file at this path is meant. */
  readonly isSelected: (path: string) => boolean
  /** Whether a path is passed over; of a directory, whether all that is in it is. */
  readonly isExcluded: (path: string, kind: 'file' | 'directory') => boolean
  /** The paths that are asked for by name, without those that a pattern leaves out. */
  readonly listed: ReadonlySet<string>
}

interface SelectionRules {
  /** Only files that match one of these; none given: all. */
  readonly include?: readonly string[]
  /** No file that matches one of these. */
  readonly exclude?: readonly string[]
  /** Only these paths; `undefined`: all. */
  readonly paths?: ReadonlySet<string> | undefined
}

/**
 * The files that the rules mean. Patterns are those of `.gitignore`: one without a slash matches a file or a directory anywhere, one with a
 * slash the path from the top, one that ends with a slash only directories, and `**` any number of directories. A directory that matches
 * stands for all that is in it. Unlike in names that a user types, `*` matches names that begin with a dot, too.
 */
export function selectPaths({ include = [], exclude = [], paths }: SelectionRules): PathSelection {
  const included = include.map(createPathMatcher)
  const excluded = exclude.map(createPathMatcher)
  const matchesIn = (matchers: readonly PathMatcher[], path: string, kind: Kind) =>
    matchers.some((matches) => partsOf(path, kind).some((part) => matches(part)))
  const isSelected = (path: string) => {
    if (matchesIn(excluded, path, 'file')) return false
    if (paths !== undefined && !paths.has(path)) return false
    return included.length === 0 || matchesIn(included, path, 'file')
  }
  return {
    isWhole: include.length === 0 && exclude.length === 0 && paths === undefined,
    isSelected,
    listed: new Set([...(paths ?? [])].filter(isSelected)),
    isExcluded: (path, kind) =>
      kind === 'file' ? !isSelected(path) : matchesIn(excluded, path, kind),
  }
}

type Kind = 'file' | 'directory'

interface PathPart {
  readonly segments: readonly string[]
  readonly kind: Kind
}

/** A path and all directories above it. */
function partsOf(path: string, kind: Kind): readonly PathPart[] {
  const segments = path.split('/')
  return segments.map((_, at) => ({
    segments: segments.slice(0, at + 1),
    kind: at < segments.length - 1 ? 'directory' : kind,
  }))
}

type PathMatcher = (part: PathPart) => boolean

function createPathMatcher(pattern: string): PathMatcher {
  const wanted = pattern.replace(/^\.\//, '').replace(/\/+$/, '')
  const segments = wanted.split('/').filter((segment) => segment !== '')
  const isFixed = wanted.includes('/')
  const tests = (isFixed ? segments : ['**', ...segments]).map((segment) =>
    segment === '**' ? '*' : createMatcher(segment, { takesHidden: true }),
  )
  const isForDirectories = pattern.endsWith('/')
  return ({ segments: path, kind }) =>
    (kind === 'directory' || !isForDirectories) && matchesItems(tests, path)
}

/** Matches one character, or (`*`) any number of them. */
type Token = RegExp | '*'

/** A backslash and a character, `*`, a class, or any character. A `[` that opens no class stands for itself. */
const tokens = /\\(.)|(\*)|\[([!^]|(?![!^]))(\](?:ITEM)*|(?:ITEM)+)\]|(.)/
const item = /\[:\w+:\]|\\.|(?!\[:\w+:\])[^\]\\]/
const tokenPattern = new RegExp(tokens.source.replaceAll('ITEM', item.source), 'gsu')

/** An item of a class: a POSIX class, a range, or a character. */
const itemPattern = /\[:(\w+):\]|(\\.|[^\\])(?:-(\\.|[^\\]))?/gsu

const posixClasses = new Map([
  ['alnum', '\\p{L}\\p{Nd}'],
  ['alpha', '\\p{L}'],
  ['blank', ' \\t'],
  ['digit', '0-9'],
  ['lower', '\\p{Ll}'],
  ['punct', '\\p{P}\\p{S}'],
  ['space', '\\s'],
  ['upper', '\\p{Lu}'],
  ['xdigit', '0-9A-Fa-f'],
])

/** Whether a word has a wildcard. */
export function isPattern(word: string): boolean {
  return /[*?[]/.test(word)
}

/**
 * Makes a test whether names match `pattern`, as in a shell: only a pattern that begins with a dot matches names that do, unless
 * `takesHidden`.
 */
export function createMatcher(
  pattern: string,
  { takesHidden = /^\\?\./.test(pattern) }: { readonly takesHidden?: boolean } = {},
): (name: string) => boolean {
  const tests = [...pattern.matchAll(tokenPattern)]
    .map(tokenOf)
    .map((token) => (token === '*' ? token : (character: string) => token.test(character)))
  return (name) => (takesHidden || !name.startsWith('.')) && matchesItems(tests, Array.from(name))
}

/** The text that every match of `pattern` begins with. */
export function fixedStart(pattern: string): string {
  return /^[^*?[\\]*/.exec(pattern)?.[0] ?? ''
}

/**
 * Whether `items` match a pattern of tests for one item each; `*` stands for any number of items. Backtracks to the last `*` only, so that
 * no pattern takes long.
 */
function matchesItems(
  pattern: readonly (((item: string) => boolean) | '*')[],
  items: readonly string[],
): boolean {
  let next = 0
  let star = -1
  let starEnd = 0
  for (let at = 0; at < items.length;) {
    const test = pattern[next]
    if (test === '*') {
      star = next++
      starEnd = at
    } else if (test?.(items[at] ?? '')) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++starEnd
    } else return false
  }
  return pattern.slice(next).every((test) => test === '*')
}

function tokenOf([, escaped, star, negation = '', members, character]: RegExpExecArray): Token {
  if (star !== undefined) return '*'
  if (members !== undefined) {
    const set = members.replace(itemPattern, classPart)
    return new RegExp(`[${negation && '^'}${set}]`, 'u')
  }
  if (character === '?') return /./su
  return new RegExp(`^${literal(escaped ?? character ?? '')}$`, 'u')
}

function classPart(_: string, posix?: string, first = '', last = first): string {
  if (posix !== undefined) return posixClasses.get(posix) ?? ''
  return codeOf(first) <= codeOf(last) ? `${literal(first)}-${literal(last)}` : ''
}

/** The code of a character, or of the one after a backslash. */
const codeOf = (text: string) => text.replace(/^\\(?=.)/s, '').codePointAt(0) ?? 0

const literal = (text: string) => `\\u{${codeOf(text).toString(16)}}`
