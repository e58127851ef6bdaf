import type { Logger } from 'pino'
import { messageOf } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import type { CustomerWebhooks, Webhooks } from './open-webhooks.ts'

/**
 * Begins to deliver events where there are receivers; see `openWebhooks`, whose code is loaded when there is the first receiver: most
 * servers have none. Its `followCustomers` may be called at any time; calls run one after the other.
 *
 * @throws SetupError for settings with which no event of `--webhook` could be delivered
 */
export async function openEvents(
  config: Config,
  log: Logger,
  customerWebhooks: CustomerWebhooks,
): Promise<Webhooks> {
  const isWanted = () => config.webhook !== undefined || customerWebhooks().size > 0
  const load = async () => {
    const { openWebhooks } = await import('./open-webhooks.ts')
    return openWebhooks(config, { log, customerWebhooks })
  }
  let webhooks = isWanted() ? await load() : undefined
  let following = Promise.resolve()
  let isClosed = false

  const follow = async () => {
    if (webhooks) return webhooks.followCustomers()
    if (isWanted()) webhooks = await load()
  }

  return {
    ofServer: () => webhooks?.ofServer(),
    ofCustomers: () => webhooks?.ofCustomers() ?? [],
    reload: async () => webhooks?.reload() ?? true,
    async followCustomers() {
      if (isClosed) return
      following = following.then(follow).catch((error: unknown) => {
        const reason = messageOf(error)
        log.error({ reason }, 'webhook: the customers get no events')
      })
      await following
    },
    async close() {
      isClosed = true
      await following
      await webhooks?.close()
    },
  }
}
