import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, type FileHandle, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { advice, type Advice } from '@holdfast/core'
import {
  type ErrorCode,
  isMap,
  isNode,
  isPair,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type YAMLError,
} from 'yaml'
import { describeDenial, programName } from '../messages.ts'
import { CustomersFileError } from './customers-file-error.ts'

/** The content of a customers file, not parsed yet. */
export interface CustomersText {
  readonly text: string
  /** The permission bits; `undefined` if the operating system has none. */
  readonly mode: number | undefined
}

const maxMebibytes = 16

// Without this flag, opening a named pipe would wait for a writer forever. Windows has neither.
const nonBlocking = process.platform === 'win32' ? 0 : constants.O_NONBLOCK

/**
 * Reads a customers file: an ordinary file in UTF-8, with or without a byte order mark, of at most 16 MiB.
 *
 * @throws CustomersFileError if it is missing, may not be read, or is not such a file.
 */
export async function readCustomersText(path: string): Promise<CustomersText> {
  const { bytes, mode } = await readBytes(path)
  return {
    text: decode(bytes, path),
    mode: process.platform === 'win32' ? undefined : mode & 0o777,
  }
}

/** Whether `error` says that the customers file does not exist. */
export function isMissingFile(error: unknown): error is CustomersFileError {
  return (
    error instanceof CustomersFileError &&
    error.cause instanceof Error &&
    'code' in error.cause &&
    error.cause.code === 'ENOENT'
  )
}

async function readBytes(path: string): Promise<{ bytes: Buffer; mode: number }> {
  try {
    const file = await open(path, constants.O_RDONLY | nonBlocking)
    try {
      const { mode } = await checkKind(file, path)
      return { bytes: await file.readFile(), mode }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw error instanceof CustomersFileError ? error : refusal(path, unreadable(error), error)
  }
}

const givePath = 'give the path of a YAML file'

async function checkKind(file: FileHandle, path: string): Promise<Stats> {
  const stats = await file.stat()
  if (stats.isDirectory()) throw refusal(path, advice('is a directory', givePath))
  if (!stats.isFile()) throw refusal(path, advice('is not an ordinary file', givePath))
  if (stats.size > maxMebibytes * 2 ** 20) {
    throw refusal(
      path,
      advice(`is larger than ${maxMebibytes} MiB`, 'is it really the customers file?'),
    )
  }
  return stats
}

function unreadable(error: unknown): Advice {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  switch (code) {
    case 'ENOENT':
      return advice(
        'does not exist',
        `create it with "${programName()} customers add NAME", or give the right path`,
      )
    case 'EACCES':
    case 'EPERM':
      return advice(
        `may not be read by this user (${describeDenial(error) ?? code})`,
        'give it to the user that the service runs as, with chown',
      )
    default:
      return advice(`cannot be read (${code})`)
  }
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refusal(path, advice('is not encoded in UTF-8', 'save it as UTF-8'))
  }
}

function refusal(path: string, said: Advice, cause?: unknown): CustomersFileError {
  return new CustomersFileError(path, [said], cause)
}

/**
 * Writes a customers file in one step and durably; links to it stay links. A new file has mode 0600. An existing file keeps its owner
 * and group, and the group's permissions: the server may belong to that group, and must be able to read the file after an edit.
 * Other users have no permissions.
 *
 * @throws CustomersFileError when it cannot be written, or only with another owner or group; the old file stays then.
 */
export async function saveCustomersText(path: string, text: string): Promise<void> {
  try {
    const target = await realpath(path).catch(() => path)
    const before = await stat(target).catch(() => undefined)
    // Beside the old file, since a file can be renamed within its file system only.
    const temporary = `${target}.${randomUUID()}`
    try {
      await writeDurably(temporary, text, before && { path, stats: before })
      await rename(temporary, target)
    } finally {
      await rm(temporary, { force: true })
    }
    await syncDirectory(dirname(target))
  } catch (error) {
    throw error instanceof CustomersFileError
      ? error
      : new CustomersFileError(path, [unwritable(error)], error)
  }
}

interface EarlierFile {
  /** The path that the administrator knows. */
  readonly path: string
  readonly stats: Stats
}

/** Makes a file at `path`; it is for its owner only, or for whom the one `before` it was. */
async function writeDurably(path: string, text: string, before?: EarlierFile): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    if (before) await keepOwner(file, before)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function keepOwner(file: FileHandle, { path, stats }: EarlierFile): Promise<void> {
  const { uid, gid, mode } = stats
  const made = await file.stat()
  try {
    // File systems without owners and modes may refuse to set even the same ones.
    if (made.uid !== uid || made.gid !== gid) await file.chown(uid, gid)
  } catch (error) {
    const user = `uid ${process.getuid?.()}, gid ${process.getgid?.()}`
    const right = made.uid === uid ? `a member of group ${gid}` : `uid ${uid}`
    throw refusal(
      path,
      advice(
        `belongs to uid ${uid}, gid ${gid}, which ${user} may not set on the new file`,
        `run this as ${right} or as root`,
        'nothing was changed',
      ),
      error,
    )
  }
  if (made.mode !== mode) await file.chmod((mode & 0o070) | 0o600)
}

/** Syncs a directory: otherwise a power cut could restore the old file after the administrator got the new password. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Why a customers file, or the lock beside it, could not be written. */
export function unwritable(error: unknown): Advice {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  switch (code) {
    case 'ENOENT':
      return advice('cannot be created, since its directory does not exist', 'create that first')
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return advice(
        `cannot be written by this user (${describeDenial(error) ?? code})`,
        'it is replaced as a whole, so its directory has to be writable',
      )
    case 'ENOSPC':
      return advice('cannot be written, since the disk is full', 'nothing was changed')
    default:
      return advice(`cannot be written (${code})`)
  }
}

/** The keys and indexes that lead to a value in the data. */
export type DataPath = readonly (string | number)[]

/** A YAML file in memory, with its data, and a function that finds the lines of the data. */
export interface YamlDocument {
  readonly document: Document
  readonly data: unknown
  /** The line of the value at `path`, or of `key` in the mapping there. If there is none, the line of the nearest value above it. */
  lineOf(path: DataPath, key?: string): number | undefined
}

// The parser's own messages quote the text, which may be a password.
const syntaxProblems = {
  ALIAS_PROPS: advice('an alias can have neither an anchor nor a tag'),
  BAD_ALIAS: advice(
    'a value that begins with "*" refers to an anchor, and there is none of that name',
    'put the value in quotes',
  ),
  BAD_DIRECTIVE: advice(
    'a line that begins with "%" is a YAML directive, and this one is not known',
    'remove it',
  ),
  BAD_DQ_ESCAPE: advice(
    'a backslash in double quotes begins an escape, and this one is not known',
    'use single quotes',
  ),
  BAD_INDENT: advice(
    'the indentation does not fit the lines above',
    'align it with its siblings, using spaces',
  ),
  BAD_PROP_ORDER: advice('an anchor or a tag stands in the wrong place'),
  BAD_SCALAR_START: advice('a value cannot begin with this character', 'put it in quotes'),
  BLOCK_AS_IMPLICIT_KEY: advice(
    'there is a second ": " on the line',
    'put the value in quotes, or give each field a line of its own',
  ),
  BLOCK_IN_FLOW: advice(
    'inside [ ] and { } everything has to be written with brackets, commas and quotes',
  ),
  DUPLICATE_KEY: advice(
    'the field occurs twice in one mapping',
    'keep one of them, and begin each customer with "- "',
  ),
  IMPOSSIBLE: advice('this is not valid YAML'),
  KEY_OVER_1024_CHARS: advice(
    'a field name is longer than 1024 characters',
    'is a quote or a line break missing?',
  ),
  MISSING_CHAR: advice(
    'a closing quote, a closing bracket, a comma or a ":" is missing here or before',
  ),
  MULTILINE_IMPLICIT_KEY: advice(
    'a ":" is missing, or a value goes on in the next line without quotes',
  ),
  MULTIPLE_ANCHORS: advice('a value can have one anchor only'),
  MULTIPLE_DOCS: advice(
    'a second document begins here',
    'remove the line "---" and keep one list of customers',
  ),
  MULTIPLE_TAGS: advice(
    'a value can have one tag only',
    'put values that begin with "!" in quotes',
  ),
  NON_STRING_KEY: advice('a field name has to be text'),
  RESOURCE_EXHAUSTION: advice('the file is nested too deeply'),
  TAB_AS_INDENT: advice('the line is indented with a tab', 'use spaces'),
  TAG_RESOLVE_FAILED: advice(
    'a value that begins with "!" has a tag, and this one is not known',
    'put the value in quotes',
  ),
  UNEXPECTED_TOKEN: advice(
    'this is not expected here',
    'put values with special characters in quotes, and check the indentation',
  ),
  BAD_COLLECTION_TYPE: advice('the tag does not fit the value', 'remove it'),
} satisfies Record<ErrorCode, Advice>

/**
 * Parses one YAML 1.2 document, JSON included.
 *
 * @throws CustomersFileError for a text that is not YAML, for warnings of the YAML parser, and for aliases that expand to too much.
 */
export function parseYaml(text: string, path: string): YamlDocument {
  const lines = new LineCounter()
  const document = parseOrRefuse(text, path, lines)
  const problems = [...document.errors, ...document.warnings]
  if (problems.length > 0) throw syntaxError(problems, path, lines)

  const lineAt = (offset: number | undefined) =>
    offset === undefined ? undefined : lines.linePos(offset).line
  const data = expandOrRefuse(document, path, lineAt)
  return { document, data, lineOf: (at, key) => lineAt(offsetOf(document, at, key)) }
}

function parseOrRefuse(text: string, path: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, {
      lineCounter,
      prettyErrors: false,
      logLevel: 'error',
      // Otherwise keys within keys take a time that grows as a power of their depth: 1 kB takes a minute.
      stringKeys: true,
    })
  } catch {
    // The parser is recursive; its error when the stack is used up says nothing more.
    throw new CustomersFileError(path, [syntaxProblems.RESOURCE_EXHAUSTION])
  }
}

type LineAt = (offset: number | undefined) => number | undefined

function expandOrRefuse(document: Document, path: string, lineAt: LineAt): unknown {
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return
      const line = lineAt(alias.range?.[0])
      throw new CustomersFileError(path, [{ line, ...syntaxProblems.BAD_ALIAS }])
    },
  })
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch {
    throw new CustomersFileError(path, [
      advice('its aliases ("*name") expand to too much', 'write the values out'),
    ])
  }
}

function syntaxError(errors: readonly YAMLError[], path: string, lines: LineCounter) {
  const problems = errors.map(({ code, pos }) => ({
    line: lines.linePos(pos[0]).line,
    ...syntaxProblems[code],
  }))
  return new CustomersFileError(
    path,
    problems.sort((one, other) => one.line - other.line),
  )
}

function offsetOf(document: Document, path: DataPath, key?: string): number | undefined {
  const node = document.getIn(path, true)
  if (isMap(node) && key !== undefined) {
    const pair = node.items.find((item) => isPair(item) && String(item.key) === key)
    if (pair && isNode(pair.key) && pair.key.range) return pair.key.range[0]
  }
  if (isNode(node) && node.range) return node.range[0]
  return path.length > 0 ? offsetOf(document, path.slice(0, -1)) : undefined
}
