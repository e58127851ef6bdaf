import type { Logger } from 'pino'
import { messageOf } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import type { CustomerWebhooks, Webhooks } from './open-webhooks.ts'

/** How long to wait before the delivery to a customer that could not begin is tried again, in milliseconds. */
const defaultRetryMs = 60_000

/**
 * Begins to deliver events where there are receivers; see `openWebhooks`, whose code is loaded when there is the first receiver: most
 * servers have none. Its `followCustomers` may be called at any time; calls run one after the other. It is called
 * again every `retryMs` while the delivery to a customer cannot begin: a disk that was full may have room.
 *
 * @throws SetupError for settings with which no event of `--webhook` could be delivered
 */
export async function openEvents(
  config: Config,
  log: Logger,
  customerWebhooks: CustomerWebhooks,
  retryMs = defaultRetryMs,
): Promise<Webhooks> {
  const isWanted = () => config.webhook !== undefined || customerWebhooks().size > 0
  const load = async () => {
    const { openWebhooks } = await import('./open-webhooks.ts')
    return openWebhooks(config, { log, customerWebhooks })
  }
  let webhooks = isWanted() ? await load() : undefined
  let following = Promise.resolve()
  let isClosed = false
  let retry: NodeJS.Timeout | undefined
  let hasFailed = false

  const retryLater = () => {
    clearTimeout(retry)
    if (isClosed || !(hasFailed || webhooks?.failedCustomers())) return
    retry = setTimeout(() => void followCustomers(), retryMs).unref()
  }

  const follow = async () => {
    if (webhooks) return webhooks.followCustomers()
    if (isWanted()) webhooks = await load()
  }

  const followCustomers = async () => {
    if (isClosed) return
    following = following
      .then(follow)
      .then(() => void (hasFailed = false))
      .catch((error: unknown) => {
        hasFailed = true
        const reason = messageOf(error)
        log.error({ reason }, 'webhook: the customers get no events')
      })
      .then(retryLater)
    await following
  }

  // The customers may have changed while the deliveries began.
  void followCustomers()
  return {
    ofServer: () => webhooks?.ofServer(),
    ofCustomers: () => webhooks?.ofCustomers() ?? [],
    failedCustomers: () => webhooks?.failedCustomers() ?? 0,
    reload: async () => webhooks?.reload() ?? true,
    followCustomers,
    async close() {
      isClosed = true
      clearTimeout(retry)
      await following
      await webhooks?.close()
    },
  }
}
