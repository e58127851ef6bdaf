import { createHash } from 'node:crypto'
import { constants } from 'node:os'
import { copyFiles, EmptySourceError, type CopyOptions, type CopyResult } from '@holdfast/copy'
import { isFileServiceError, SetupError } from '@holdfast/core'
import { openStore, type WarningLog } from '@holdfast/server/stores'
import { print } from '../terminal/print.ts'
import { stopOnSignal } from '../terminal/stop-on-signal.ts'
import { copySummary, describeFailure } from './copy-summary.ts'
import { refuseUnknownCustomer } from './refuse-unknown-customer.ts'
import { standardError } from '../terminal/standard-error.ts'
import { refuseWrongSource } from './refuse-wrong-source.ts'
import { showProgress } from './show-progress.ts'
import type { StorePlace } from './store-place.ts'

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
  const log: WarningLog = { warn: (message) => display.note(`holdfast: ${message}`) }
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
  const from = await openStore(source.kind, source.config, log)
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
      signal === undefined ? `Gave up: ${messageOf(stoppedBy)}.` : `Stopped by ${signal}.`
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
