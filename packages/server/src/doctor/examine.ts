import type { Finding } from '@holdfast/core'
import { inspectDataDirectory } from '@holdfast/store-disk'
import type { Config } from '../config/resolve-config.ts'
import { attemptFindings } from './attempt-findings.ts'
import { bucketFindings } from './bucket-findings.ts'
import { examineCustomers } from './examine-customers.ts'
import { lookAtMachine, machineFindings } from './machine-findings.ts'
import { networkFindings } from './network-findings.ts'
import { trailFindings } from './trail-findings.ts'

/** What is examined together. */
export interface Section {
  readonly title: string
  /** Made as they are asked for; to be read once, to the end, before the next section is. */
  readonly findings: AsyncIterable<Finding> | Iterable<Finding>
}

/**
 * Examines all that a server with this configuration needs: the machine, the way to its clients, the customers file, and
 * the store that is configured. Changes nothing, and may be done beside a running server. Rejects with the reason of
 * `signal` and nothing else.
 */
export async function* examine(config: Config, signal?: AbortSignal): AsyncGenerator<Section> {
  yield { title: 'Machine', findings: onMachine(config) }
  yield { title: 'Network', findings: networkFindings(config) }
  const { findings, promisedBytes } = await examineCustomers(config.customers)
  yield { title: 'Customers', findings }
  if (config.store === 'minio') {
    const found = bucketFindings(config, signal)
    yield { title: 'MinIO store', findings: attemptFindings('bucket', found, signal) }
    return
  }
  const found = inspectDataDirectory({ directory: config.data, promisedBytes, signal })
  yield { title: 'Disk store', findings: attemptFindings('directory', found, signal) }
}

async function* onMachine(config: Config): AsyncGenerator<Finding> {
  yield* machineFindings(await lookAtMachine())
  yield* attemptFindings('audit trail', trailFindings(config))
}
