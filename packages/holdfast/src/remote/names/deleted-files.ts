import { isHoldfastError, type Client, type DeletedFile } from '@holdfast/client'
import { CommandError, exitCodes } from '../errors/command-error.ts'
import type { Report } from '../output/report.ts'
import { createMatcher, fixedStart } from './match-pattern.ts'

interface Search {
  readonly client: Client
  readonly report: Report
  readonly signal: AbortSignal
}

/** The deleted files that `pattern` matches, or the one that has exactly this name. A pattern that matches nothing is reported. */
export async function* deletedMatches(
  pattern: string,
  { client, report, signal }: Search,
): AsyncGenerator<DeletedFile, void> {
  const isMatch = createMatcher(pattern)
  let found = 0
  const all = client.deleted({ prefix: fixedStart(pattern), signal })
  for await (const file of explainingMissingHistory(all)) {
    if (file.name !== pattern && !isMatch(file.name)) continue
    found++
    yield file
  }
  if (found > 0) return
  await report.failed(pattern, new CommandError(exitCodes.notFound, 'No deleted file matches.'))
}

/** `entries`, whose error says it where the server keeps nothing. */
export async function* explainingMissingHistory<Entry>(
  entries: AsyncIterable<Entry>,
): AsyncGenerator<Entry, void> {
  try {
    yield* entries
  } catch (error) {
    throw explainMissingHistory(error)
  }
}

/** Translates the error of a server that keeps nothing; returns any other error unchanged. */
export function explainMissingHistory(error: unknown): unknown {
  if (!isHoldfastError(error, 'unknown-path')) return error
  const problem = 'The server keeps neither earlier versions nor deleted files.'
  return new CommandError(exitCodes.failed, problem, [], error)
}
