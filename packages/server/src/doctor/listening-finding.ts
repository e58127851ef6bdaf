import { once } from 'node:events'
import { createServer } from 'node:net'
import { finding, type Finding } from '@holdfast/core'
import { UsageError } from '../cli/usage-error.ts'
import type { Config } from '../config/resolve-config.ts'
import { explainListening } from '../serve/explain-listening.ts'
import { toldFinding } from './told-finding.ts'

const check = 'listening'

/** Whether this process could listen where the server is to, tried for a moment. */
export async function listeningFinding(config: Config): Promise<Finding> {
  const { host, port } = config
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return finding('ok', check, port === 0 ? `on ${host}, any port` : `on ${host} port ${port}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      return finding('skipped', check, `${host} port ${port} is taken: by the server, if it runs`)
    }
    const explained = explainListening(error, config)
    const reason = explained instanceof UsageError ? explained.message : String(explained)
    return toldFinding('problem', check, reason)
  } finally {
    server.close()
  }
}
