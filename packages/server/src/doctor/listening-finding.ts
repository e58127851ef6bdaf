import { once } from 'node:events'
import { createServer } from 'node:net'
import { finding, type Finding } from '@holdfast/core'
import { UsageError } from '../config/usage-error.ts'
import { explainListening, type ListeningPlace } from '../listen/explain-listening.ts'
import { toldFinding } from './told-finding.ts'

/** Whether this process could listen at `place`, as the server is to, tried for a moment. */
export async function listeningFinding(check: string, place: ListeningPlace): Promise<Finding> {
  const { host, port } = place
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return finding('ok', check, port === 0 ? `on ${host}, any port` : `on ${host} port ${port}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      return finding('skipped', check, `${host} port ${port} is taken: by the server, if it runs`)
    }
    const explained = explainListening(error, place)
    const reason = explained instanceof UsageError ? explained.message : String(explained)
    return toldFinding('problem', check, reason)
  } finally {
    server.close()
  }
}
