import { SetupError } from '@holdfast/core'
import { hostPortText, type HostPort } from './engine-address.ts'
import { answerKind, EngineAwayError } from './engine-errors.ts'
import { connectNode, type EngineNode } from './engine-node.ts'
import { connectTimeoutMs, type EngineSettings } from './engine-settings.ts'
import { accessOf, explained, firstOf } from './open-node.ts'

/**
 * Asks all Sentinels at once which server is the master; the first answer counts.
 *
 * @throws SetupError if none answers, and one has a problem that a person must mend; EngineAwayError if none answers
 */
export async function findMaster(settings: EngineSettings): Promise<HostPort> {
  return firstOf(settings.address.hosts.map((at) => askSentinel(at, settings)))
}

/** Ends the connection to `node` if the Sentinels name another master. Never rejects. */
export async function leaveFormerMaster(node: EngineNode, settings: EngineSettings): Promise<void> {
  const { host, port } = await findMaster(settings).catch(() => node.at)
  if (host === node.at.host && port === node.at.port) return
  node.destroy(new EngineAwayError(`the Sentinels have named another master, ${host}:${port}`))
}

/** Has the Sentinels report another master, and ends the connection to `node` then. Ends with that connection. */
export function watchSentinels(node: EngineNode, settings: EngineSettings): void {
  const { hosts, masterName } = settings.address
  for (const at of hosts) {
    const watched = connectSentinel(at, settings).then(async (sentinel) => {
      void node.lost.then(() => sentinel.destroy())
      await sentinel.subscribe('+switch-master', (text) => {
        if (text.startsWith(`${masterName} `)) void leaveFormerMaster(node, settings)
      })
    })
    // The session asks from time to time, too.
    watched.catch(() => {})
  }
}

function connectSentinel(at: HostPort, settings: EngineSettings): Promise<EngineNode> {
  return connectNode(at, { ...accessOf(settings), login: settings.sentinelLogin, database: 0 })
}

async function askSentinel(at: HostPort, settings: EngineSettings): Promise<HostPort> {
  const { address } = settings
  let sentinel: EngineNode | undefined
  try {
    sentinel = await connectSentinel(at, settings)
    const asked = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', address.masterName]
    const timer = setTimeout(() => sentinel?.destroy(), connectTimeoutMs)
    const answer = await sentinel.send(asked).finally(() => clearTimeout(timer))
    if (Array.isArray(answer)) return { host: String(answer[0]), port: Number(answer[1]) }
    throw new SetupError(
      `The Sentinel ${sentinel.name} watches no master called ${address.masterName}`,
      [`redis-cli -p ${at.port} SENTINEL MASTERS`],
    )
  } catch (error) {
    throw explainedSentinel(error, at) ?? (await explained(error, at, settings))
  } finally {
    sentinel?.destroy()
  }
}

function explainedSentinel(error: unknown, at: HostPort): SetupError | undefined {
  const name = hostPortText(at)
  if (['WRONGPASS', 'NOAUTH'].includes(answerKind(error))) {
    return new SetupError(
      `The Sentinel ${name} refuses the user or the password`,
      [
        'Set the password of the Sentinels in HOLDFAST_SHARED_SENTINEL_PASSWORD, or in a file that HOLDFAST_SHARED_SENTINEL_PASSWORD_FILE names',
      ],
      error,
    )
  }
  if (answerKind(error) !== 'ERR' || !String(error).includes('unknown command')) return undefined
  return new SetupError(
    `${name} is no Sentinel`,
    ['Name the Sentinels in the URL, whose usual port is 26379'],
    error,
  )
}
