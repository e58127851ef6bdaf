import { finding, type Finding } from '@holdfast/core'
import {
  CustomersFileError,
  openFileCredentialSource,
  programName,
} from '@holdfast/credentials-file'
import { adviceFinding } from './examine.ts'

/** What the customers file says, and what is wrong with it. */
export interface CustomersExamination {
  readonly findings: readonly Finding[]
  /** Bytes that all customers with a quota may keep together. */
  readonly promisedBytes: number
}

const check = 'customers file'

/** Reads the customers file at `path`, and judges it. */
export async function examineCustomers(path: string): Promise<CustomersExamination> {
  try {
    return await examine(path)
  } catch (error) {
    if (!(error instanceof CustomersFileError)) throw error
    return { findings: [refused(error)], promisedBytes: 0 }
  }
}

async function examine(path: string): Promise<CustomersExamination> {
  const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
  await source.close()
  const names = source.customers()
  const customers = names.map((name) => source.find(name))
  const quotas = customers.flatMap((customer) => customer?.quota ?? [])
  const counted = `${names.length} customer(s), ${quotas.length} of them with a quota`
  const remedy = `${programName()} customers add NAME`
  const count =
    names.length === 0
      ? finding('warning', check, `${path} has no customers; no one can log in`, remedy)
      : finding('ok', check, `${path}: ${counted}`)
  const warnings = source.warnings().map((warning) => adviceFinding('warning', check, warning))
  return {
    findings: [count, ...warnings],
    promisedBytes: quotas.reduce((sum, quota) => sum + quota, 0),
  }
}

function refused(error: CustomersFileError): Finding {
  const { path, problems, lines } = error
  if (problems.length === 1) return adviceFinding('problem', check, error)
  return finding('problem', check, `${path}: ${problems.length} things are wrong`, ...lines)
}
