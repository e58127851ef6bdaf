import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import {
  copyFiles,
  EmptySourceError,
  type CopyOptions,
  type CopyResult,
  type CopyFailure,
  type FileCount,
} from '@holdfast/copy'
import {
  isFileServiceError,
  SetupError,
  type BlobStore,
  closestWord,
  formatBytes,
} from '@holdfast/core'
import type { Config, StoreKind } from '@holdfast/server/config'
import { openStore, type WarningLog } from '@holdfast/server/stores'
import { visible } from '@holdfast/server/visible'
import { showProgress } from './show-progress.ts'
import { openExistingStore, refuseMissingData } from '../settings/open-existing-store.ts'
import { print, standardError } from '../terminal/print.ts'
import { stopOnSignal } from '../terminal/stop-on-signal.ts'
import { formatDuration } from '../terminal/format.ts'

/** A store to copy from or to: which one, and the settings that it is opened with. */
interface StorePlace {
  readonly kind: StoreKind
  readonly config: Config
}

export interface CopyPlan extends Pick<
  CopyOptions,
  'customer' | 'concurrency' | 'verify' | 'removeExtra'
> {
  readonly from: StorePlace
  readonly to: StorePlace
}

/**
 * Copies in this process, with progress and failures on standard error and the summary on standard output; resolves
 * with the exit code: 0 if all files are there, 1 if not, 128 and its number if a signal ended it.
 */
export async function runCopy({ from, to, ...options }: CopyPlan): Promise<number> {
  const begin = Date.now()
  await refuseWrongSource(from, to)
  const interruption = stopOnSignal()
  const display = showProgress(standardError(), process.env)
  const log: WarningLog = { warn: (message) => display.note(`holdfast: ${visible(message)}`) }
  try {
    const result = await betweenStores(from, to, log, async (stores) => {
      if (options.customer !== undefined) await refuseUnknownCustomer(stores, options.customer)
      return copyFiles({
        ...options,
        ...stores,
        createHash: () => createHash('sha256'),
        signal: interruption.signal,
        onProgress: (progress) => display.update(progress),
      })
    })
    display.end()
    await report(result, (Date.now() - begin) / 1000, interruption.name())
    return exitCode(result, interruption.name())
  } catch (error) {
    display.end()
    throw explain(error, options.customer)
  }
}

async function betweenStores(
  source: StorePlace,
  target: StorePlace,
  log: WarningLog,
  work: (stores: Pick<CopyOptions, 'from' | 'to'>) => Promise<CopyResult>,
): Promise<CopyResult> {
  const from = await openExistingStore(source.kind, source.config, log)
  try {
    const to = await openStore(target.kind, target.config, log)
    try {
      return await work({ from, to })
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

async function report(
  result: CopyResult,
  seconds: number,
  signal: NodeJS.Signals | undefined,
): Promise<void> {
  const { failures, stoppedBy } = result
  for (const failure of failures) standardError().write(`holdfast: ${describeFailure(failure)}\n`)
  if (stoppedBy !== undefined) {
    const ending =
      signal === undefined ? `Gave up: ${visible(messageOf(stoppedBy))}.` : `Stopped by ${signal}.`
    standardError().write(`holdfast: ${ending} The same command again copies the rest.\n`)
  }
  await print(`${copySummary(result, seconds).join('\n')}\n`)
}

function exitCode({ failures, stoppedBy }: CopyResult, signal: NodeJS.Signals | undefined): number {
  if (stoppedBy !== undefined && signal !== undefined) return 128 + constants.signals[signal]
  return failures.length > 0 || stoppedBy !== undefined ? 1 : 0
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function explain(error: unknown, customer: string | undefined): unknown {
  if (error instanceof EmptySourceError) {
    const whose = customer === undefined ? 'no file' : `no file of the customer "${customer}"`
    return new SetupError(
      `The source has ${whose}, and with --delete nothing would be left in the target`,
      ['If that is meant, empty it by hand.'],
    )
  }
  if (isFileServiceError(error)) return new SetupError(`Nothing was copied: ${error.message}.`)
  return error
}

/**
 * Refuses a source directory that does not exist, or that is the target as well.
 *
 * @throws SetupError that names the directory
 */
async function refuseWrongSource(from: StorePlace, to: StorePlace): Promise<void> {
  if (from.kind !== 'disk') return
  const { data } = from.config
  await refuseMissingData(data)
  if (to.kind === 'disk' && (await truePath(data)) === (await truePath(to.config.data))) {
    throw new SetupError(`--data and --to-data are the same directory, ${data}.`)
  }
}

const truePath = (path: string) => realpath(path).catch(() => resolve(path))

interface Stores {
  readonly from: BlobStore
  readonly to: BlobStore
}

/**
 * Refuses a customer if neither store has a file of that name: a misspelt name would otherwise look like a finished copy.
 *
 * @throws SetupError that names the customer, and the one that was probably meant
 */
async function refuseUnknownCustomer({ from, to }: Stores, customer: string): Promise<void> {
  if ((await hasFile(from, customer)) || (await hasFile(to, customer))) return
  const names: string[] = []
  for await (const name of from.customers()) names.push(name)
  const meant = closestWord(customer, names)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  throw new SetupError(`Neither store has a file of the customer "${customer}".${hint}`)
}

async function hasFile(store: BlobStore, customer: string): Promise<boolean> {
  for await (const _names of store.list(customer, { limit: 1 })) return true
  return false
}

/** The result of a copy, one fact a line. */
export function copySummary(result: CopyResult, seconds: number): readonly string[] {
  const { copied, present, removed, extra, failures, isCaughtUp, stoppedBy } = result
  const lines = [
    copied.files === 0
      ? `Nothing copied, in ${formatDuration(seconds)}.`
      : `Copied and compared ${amount(copied)}, in ${formatDuration(seconds)}.`,
  ]
  if (present.files > 0) lines.push(`There already: ${amount(present)}.`)
  if (removed > 0) lines.push(`Removed from the target: ${files(removed)}.`)
  if (extra > 0) lines.push(`Only in the target: ${files(extra)}; --delete removes them.`)
  if (failures.length > 0) lines.push(`Failed: ${files(failures.length)}.`)
  if (!isCaughtUp && stoppedBy === undefined) {
    lines.push('Files came or changed to the end: copy again when nothing is uploaded any more.')
  }
  return lines
}

/** A failure as one line, also if the name has line breaks. */
export function describeFailure({ customer, name, reason }: CopyFailure): string {
  const place = name === undefined ? customer : `${customer}/${name}`
  return `${visible(place)}: ${visible(reason)}`
}

const files = (count: number) => (count === 1 ? '1 file' : `${count} files`)

const amount = (count: FileCount) => `${files(count.files)}, ${formatBytes(count.bytes)}`
