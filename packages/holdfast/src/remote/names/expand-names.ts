import { isHoldfastError, type Client } from '@holdfast/client'
import picomatch from 'picomatch'
import { CommandError, usageError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import type { Report } from '../output/report.ts'

interface Expansion {
  readonly client: Client
  readonly report: Report
  readonly signal: AbortSignal
}

interface Reading {
  /** Whether `*`, `?` and `[` are taken as they are. */
  readonly literal?: boolean
}

/**
 * The names of files that `patterns` mean, each one once, in the order of the patterns. A word without `*`, `?` and `[` is a name,
 * whether the file exists or not. Any other is a pattern, unless there is a file of exactly that name; one that matches nothing is reported.
 */
export async function* expandNames(
  patterns: readonly string[],
  { literal = false }: Reading,
  expansion: Expansion,
): AsyncGenerator<string, void> {
  if (patterns.length === 0) throw usageError('Say the name of a file.')
  const seen = new Set<string>()
  for (const pattern of patterns) {
    const isName = literal || !isPattern(pattern)
    for await (const name of isName ? [pattern] : matches(pattern, expansion)) {
      if (!seen.has(name)) yield name
      seen.add(name)
    }
  }
}

/** Whether a word has a character that stands for others. */
export function isPattern(word: string): boolean {
  return /[*?[]/.test(word)
}

/** Whether names match `pattern`, as a shell has it; but names that begin with a dot are not hidden. */
export function createMatcher(pattern: string): (name: string) => boolean {
  // Beyond a shell's, picomatch takes what regular expressions have.
  const literal = pattern.replace(/[(){}|+]/g, '\\$&')
  const isMatch = picomatch(literal, {
    dot: true,
    posix: true,
    literalBrackets: false,
    nobrace: true,
    noextglob: true,
    nonegate: true,
  })
  return (name) => isMatch(name)
}

/** What every match of `pattern` begins with. */
export function fixedStart(pattern: string): string {
  return /^[^*?[\\]*/.exec(pattern)?.[0] ?? ''
}

async function* matches(
  pattern: string,
  { client, report, signal }: Expansion,
): AsyncGenerator<string, void> {
  if (await exists(client, pattern, signal)) {
    yield pattern
    return
  }
  const isMatch = createMatcher(pattern)
  const prefix = fixedStart(pattern)
  let found = 0
  for await (const name of client.list({ prefix, signal })) {
    if (!isMatch(name)) continue
    found++
    yield name
  }
  if (found > 0) return
  await report.failed(pattern, new CommandError(exitCodes.notFound, 'No file matches.'))
}

async function exists(client: Client, name: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.stat(name, { signal })
    return true
  } catch (error) {
    if (isHoldfastError(error, 'not-found', 'no-files-yet', 'invalid-query')) return false
    throw error
  }
}
