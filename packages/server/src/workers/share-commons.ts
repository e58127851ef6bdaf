import {
  createLoginBrake,
  type Credential,
  type FailureCounter,
  type LoginBrakeOptions,
  type QuotaBooks,
} from '@holdfast/core'
import { failureKey } from '../logins/failure-key.ts'
import type { OwnCommons } from '../serve/open-commons.ts'
import type { ReadCertificate } from '../tls/read-certificate.ts'
import type { Answers, Channel } from './channel.ts'
import { lendQuotas, type LentQuotas } from './lend-quotas.ts'
import type { ToldAnswers } from './told-commons.ts'
import { createToldFailures } from './told-failures.ts'
import { set, type ToldCount } from './told-tally.ts'

/** A password that somebody presents, and what it has to belong to. */
export interface Verification {
  readonly name: string
  readonly address: string
  readonly password: string
  readonly passwordHash?: string | undefined
}

/** What workers may ask their primary about what they have in common. */
export type CommonAnswers = LentQuotas & {
  verify(verification: Verification, signal: AbortSignal): Promise<boolean>
  count(told: ToldCount): void
}

/** One worker's part in the commons. */
export interface Share {
  readonly answers: CommonAnswers
  /** Tells the worker all that it has to know before it serves. */
  welcome(): void
  /** Frees what the worker, which is gone, held. */
  end(): void
}

export interface SharedCommons {
  /** The part of a worker who is told by `channel`. */
  give(channel: () => Channel<ToldAnswers>): Share
  /** Tells all workers who the customers are now. */
  tellCustomers(): void
}

/**
 * Shares what is one for a server among its workers: each is told of customers, certificate and failed logins, and of how
 * many requests the others have under way; all ask here for what only one can decide, who is let in and who has room.
 */
export function shareCommons(
  commons: Omit<OwnCommons, 'customersState' | 'reload' | 'close'>,
  books: QuotaBooks,
  brakeOptions: Omit<LoginBrakeOptions, 'counter'> = {},
): SharedCommons {
  const { certificate, verifyPassword } = commons
  const shares = new Map<Channel<ToldAnswers>, Map<string, number>>()
  const toldFailures = createToldFailures()

  const failures: FailureCounter = {
    read: (key) => commons.failures.read(key),
    async add(key) {
      await commons.failures.add(key)
      const failure = { key: failureKey(key), ...(await commons.failures.read(key)) }
      toldFailures.hear(failure)
      for (const channel of shares.keys()) channel.tell('failure', failure)
    },
  }
  const brake = createLoginBrake({ counter: failures, ...brakeOptions })

  const tellCount = (key: string) => {
    const all = [...shares.values()].reduce((sum, counts) => sum + (counts.get(key) ?? 0), 0)
    for (const [channel, counts] of shares) {
      channel.tell('count', { key, count: all - (counts.get(key) ?? 0) })
    }
  }
  const customers = () =>
    commons.customers().map((name) => commons.credentials.find(name) as Credential)
  certificate?.onReplaced((next: ReadCertificate) => {
    for (const channel of shares.keys()) channel.tell('certificate', next)
  })

  return {
    give(channel) {
      const quotas = lendQuotas(books)
      const counts = new Map<string, number>()
      return {
        answers: {
          ...quotas.answers,
          verify: ({ name, address, password, passwordHash }, signal) =>
            brake.attempt({ name, address, signal }, () =>
              verifyPassword(password, passwordHash, { address, signal }),
            ),
          count({ key, count }) {
            set(counts, key, count)
            tellCount(key)
          },
        } satisfies Answers,
        welcome() {
          shares.set(channel(), counts)
          if (certificate) channel().tell('certificate', certificate.current())
          channel().tell('customers', customers())
          for (const failure of toldFailures.all()) channel().tell('failure', failure)
          for (const key of new Set([...shares.values()].flatMap((each) => [...each.keys()]))) {
            tellCount(key)
          }
        },
        end() {
          shares.delete(channel())
          for (const key of counts.keys()) tellCount(key)
          quotas.end()
        },
      }
    },
    tellCustomers() {
      for (const channel of shares.keys()) channel.tell('customers', customers())
    },
  }
}
