import type { HostPort } from './engine-address.ts'
import type { EngineSettings } from './engine-settings.ts'
import { findMaster, leaveFormerMaster, watchSentinels } from './find-master.ts'
import { openCluster } from './open-cluster.ts'
import { openNode } from './open-node.ts'
import { joinNodes, type Session } from './session.ts'

/**
 * Finds the servers of the engine, connects to them and examines them.
 *
 * @throws SetupError for what a person must mend; EngineAwayError for what may pass
 */
export async function openSession(settings: EngineSettings): Promise<Session> {
  if (settings.address.kind === 'cluster') return openCluster(settings)
  const at = await findServer(settings)
  const { node, state } = await openNode(at, settings)
  const { address, leaseMs, now } = settings
  let askedAt = now()
  const base = joinNodes([node], [state])
  if (address.kind === 'sentinel') watchSentinels(node, settings)
  return {
    ...base,
    send: (_key, args) => node.send(args),
    async check() {
      await base.check()
      if (address.kind !== 'sentinel' || now() - askedAt < leaseMs) return
      askedAt = now()
      // A master that is cut off from its Sentinels does not know that another one is in its place. Not awaited: a Sentinel may be slow.
      void leaveFormerMaster(node, settings)
    },
  }
}

async function findServer(settings: EngineSettings): Promise<HostPort> {
  const [first] = settings.address.hosts
  if (first === undefined) throw new TypeError('An engine has a host')
  return settings.address.kind === 'sentinel' ? findMaster(settings) : first
}
