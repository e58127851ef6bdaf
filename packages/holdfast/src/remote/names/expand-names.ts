import { isHoldfastError, type Client } from '@holdfast/client'
import { CommandError, usageError, exitCodes } from '../errors/command-error.ts'
import type { Report } from '../output/report.ts'
import { createMatcher, fixedStart, isPattern } from './match-pattern.ts'

interface Expansion {
  readonly client: Client
  readonly report: Report
  readonly signal: AbortSignal
}

interface Reading {
  /** Whether `*`, `?` and `[` are ordinary characters. */
  readonly literal?: boolean
}

/**
 * The file names that `patterns` mean, each once, in the order of the patterns. A word without `*`, `?` and `[` is a name, whether or not
 * the file exists. Any other word is a pattern, unless a file has exactly that name. A pattern that matches nothing is reported.
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
