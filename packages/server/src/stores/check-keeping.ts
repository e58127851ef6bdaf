import { SetupError, type Credential } from '@holdfast/core'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import type { ClosableStore } from './open-store.ts'

/** What decides whether a store has to keep what is replaced. */
export interface KeepingSettings {
  readonly store: Pick<ClosableStore, 'history' | 'historyProblem'>
  readonly config: Pick<Config, 'store' | 'keep-replaced'>
  /** All customers and their logins, as they are now. */
  readonly credentials: () => readonly Credential[]
}

/** Looks again after the customers have changed. */
export interface KeepingCheck {
  /** Logs an error if a customer now has a setting that the store cannot follow. The service goes on. */
  again(): Promise<void>
  close(): Promise<void>
}

/**
 * Refuses to start if the server or a customer is to keep what is replaced, and the store cannot do that.
 *
 * @throws SetupError that names the setting, and why the store cannot
 */
export async function checkKeeping(settings: KeepingSettings, log: Logger): Promise<KeepingCheck> {
  const problem = await keepingProblem(settings)
  if (problem !== undefined) throw problem
  return {
    async again() {
      try {
        const found = await keepingProblem(settings)
        if (found) log.error({ reason: found.message }, 'what is replaced is not kept')
      } catch (err) {
        log.warn({ err }, 'the store does not say whether it can keep what is replaced')
      }
    },
    close: async () => {},
  }
}

/** Why the settings are wrong for the store; `undefined` if it keeps what it should. */
export async function keepingProblem({
  store,
  config: { store: kind, 'keep-replaced': keepMs = 0 },
  credentials,
}: KeepingSettings): Promise<SetupError | undefined> {
  if (store.history !== undefined) return undefined
  const keeping = credentials().find(({ keepReplacedMs = 0 }) => keepReplacedMs > 0)
  if (keepMs === 0 && keeping === undefined) return undefined
  const [setting, remedy] =
    keepMs > 0
      ? ['--keep-replaced is set', 'Leave --keep-replaced out.']
      : [
          `The customer "${keeping?.name}" has keepReplaced`,
          'Remove keepReplaced from the customers file.',
        ]
  const reason = await store.historyProblem?.()
  return new SetupError(`${setting}, but the ${kind} store cannot keep what is replaced`, [
    ...(reason === undefined ? [] : [reason.replace(/\.$/, '')]),
    remedy,
  ])
}
