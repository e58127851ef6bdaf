import type { Amount } from '@holdfast/core'
import { positive } from './amounts.ts'
import type { Engine } from './engine.ts'

/** How many servers there may be if the engine has never been reached, so that none was seen. */
const assumedServers = 4

/** What each of the servers may use of what is free while the engine is away. */
export function shareAlone(engine: Engine, { bytes, files }: Amount): Amount {
  const seen = engine.servers.count()
  const servers = engine.history() === '' ? Math.max(seen, assumedServers) : seen
  return positive({ bytes: Math.floor(bytes / servers), files: Math.floor(files / servers) })
}
