import type { Credential, PasswordVerifier } from '@holdfast/core'
import { rememberPasswords } from '@holdfast/passwords'
import type { Commons } from '../serve/open-commons.ts'
import type { ReadCertificate } from '../tls/read-certificate.ts'
import type { Channel } from './channel.ts'
import { createRemoteQuotas } from './remote-quotas.ts'
import type { CommonAnswers } from './share-commons.ts'
import { createToldFailures, type ToldFailure } from './told-failures.ts'
import type { WorkerOrder } from './start-worker.ts'
import { createToldTally, stepOfLimit, type ToldCount, type ToldTally } from './told-tally.ts'

/** What a worker takes from its primary. */
export type ToldAnswers = {
  customers(credentials: readonly Credential[]): void
  certificate(certificate: ReadCertificate): void
  failure(failure: ToldFailure): void
  count(told: ToldCount): void
}

/** What a worker is told of the commons, and the commons as it knows them. */
export interface ToldCommons {
  readonly answers: ToldAnswers
  /** To be opened when the primary has told everything for the first time. */
  open(order: WorkerOrder): Commons
}

/**
 * The commons as the primary tells of them; see `shareCommons`. Whatever happens at every request is decided here:
 * passwords that are remembered, the brake for them, the limits. A login that is not remembered, and uploads of customers
 * with a quota, ask the primary.
 */
export function createToldCommons(primary: () => Channel<CommonAnswers>): ToldCommons {
  let credentials = new Map<string, Credential>()
  let current: ReadCertificate | undefined
  let use: (certificate: ReadCertificate) => void = () => {}
  const failures = createToldFailures()
  const counts: ToldCount[] = []
  let hear: ToldTally['hear'] = (told) => void counts.push(told)

  return {
    answers: {
      customers(all) {
        credentials = new Map(all.map((one) => [one.name, one]))
      },
      certificate(next) {
        current = next
        use(next)
      },
      failure: (failure) => failures.hear(failure),
      count: (told) => hear(told),
    },
    open({ config, place }) {
      const requestTally = openTally(config, primary())
      counts.forEach(requestTally.hear)
      hear = requestTally.hear
      const first = current
      return {
        writer: place,
        certificate: first && {
          current: () => current ?? first,
          onReplaced: (callback) => void (use = callback),
        },
        credentials: { find: (name) => credentials.get(name) },
        verifyPassword: rememberPasswords(verifyElsewhere(primary())),
        failures,
        quotas: createRemoteQuotas(primary()),
        requestTally,
        customersState: () => ({ count: credentials.size }),
        reload: async () => true,
        close: async () => {},
      }
    },
  }
}

function openTally(config: WorkerOrder['config'], primary: Channel<CommonAnswers>): ToldTally {
  const all = stepOfLimit(config['max-requests'], config.workers)
  const each = stepOfLimit(config['max-requests-per-customer'], config.workers)
  return createToldTally(
    (key) => (key === '' ? all : each),
    (told) => primary.tell('count', told),
  )
}

/** Hashes in one place are bounded in one place, and leave the workers to the requests. */
function verifyElsewhere(primary: Channel<CommonAnswers>): PasswordVerifier {
  return (password, passwordHash, { address = '', name = '', signal } = {}) =>
    primary.ask('verify', { name, address, password, passwordHash }, signal)
}
