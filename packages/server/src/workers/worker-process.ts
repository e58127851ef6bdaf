import { adviceOf, carriesAdvice } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import { readSecret, type SecretName } from '../config/environment.ts'

import { killProcess, openLog, type OpenLog } from '../log/open-log.ts'
import { openMetrics } from '../metrics/open-metrics.ts'
import { startServer, type RunningServer } from '../serve/start-server.ts'
import { createRpcChannel, type RpcChannel } from './rpc-channel.ts'
import type { PrimaryHandlers, StartHandlers, WorkerHandlers } from './worker-protocol.ts'
import { createWorkerServices } from './worker-services.ts'

// A terminal or a supervisor sends these signals to the whole process group; only the primary reacts to them.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

// When this event comes, the work is done or the primary has ended. Runs before cluster's own listener, which calls `exit`.
process.prependListener('disconnect', killProcess)

const services = createWorkerServices(() => primary)
const hurry = new AbortController()
let opened: OpenLog | undefined
let metrics: Awaited<ReturnType<typeof openMetrics>>
const starting = Promise.withResolvers<RunningServer>()
const answers: WorkerHandlers = {
  ...services.answers,
  alive: () => true,
  reload: async () => (await starting.promise).reload(),
  metrics: async () => metrics?.values(),
  async close() {
    const isClean = await (await starting.promise).close(hurry.signal)
    await opened?.end()
    return isClean
  },
  hurry: () => hurry.abort(),
}
const primary: RpcChannel<PrimaryHandlers & StartHandlers> = createRpcChannel(
  {
    send: (message) => void process.send?.(message, undefined, undefined, () => {}),
    onMessage: (take) => void process.on('message', take),
  },
  answers,
)

// Not awaited here: the single executable is a CommonJS program, which has no top-level await.
void serve()

async function serve() {
  const start = await primary.ask('begin', {})
  const config: Config = {
    ...start.config,
    readSecret: (name: SecretName) => readSecret(name, process.env),
  }
  metrics = await openMetrics(config, `${start.number}`)
  try {
    opened = openLog(config, metrics)
    const server = await startServer(config, opened.log, metrics?.watch, async () =>
      services.open(start),
    )
    starting.resolve(server)
    primary.notify('listening', { url: server.url })
  } catch (error) {
    primary.notify('failed', { ...adviceOf(error), isMistake: carriesAdvice(error) })
  }
}
