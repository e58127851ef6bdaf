/** What `node --cpu-prof` writes, as far as it is needed here. Times in microseconds of the machine's monotonic clock. */
export interface CpuProfile {
  readonly startTime: number
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** A function in its place among its callers. */
export interface Call {
  /** Its name and where it is from, such as `dispatch (koa-compose)`. */
  readonly name: string
  /** Microseconds within it and what it called. */
  readonly total: number
  /** The longest first. */
  readonly children: readonly Call[]
}

const notWorking = new Set(['(idle)'])

/** What was called between two moments, calls of the same function from the same place as one; waiting left out. */
export function callTree(profile: CpuProfile, from: number, to: number): Call {
  const own = ownTimes(profile, from, to)
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const merge = (name: string, ids: readonly number[]): Call => {
    const called = new Map<string, number[]>()
    for (const id of ids.flatMap((each) => nodes.get(each)?.children ?? [])) {
      const frame = nodes.get(id)?.callFrame ?? { functionName: '', url: '' }
      if (notWorking.has(frame.functionName)) continue
      const key = nameOf(frame)
      called.set(key, [...(called.get(key) ?? []), id])
    }
    const children = [...called]
      .map(([key, all]) => merge(key, all))
      .filter(({ total }) => total > 0)
      .sort((one, other) => other.total - one.total)
    const self = ids.reduce((sum, id) => sum + (own.get(id) ?? 0), 0)
    return { name, total: children.reduce((sum, { total }) => sum + total, self), children }
  }
  return merge(
    'all',
    profile.nodes.slice(0, 1).map(({ id }) => id),
  )
}

function ownTimes({ startTime, samples, timeDeltas }: CpuProfile, from: number, to: number) {
  const own = new Map<number, number>()
  let at = startTime
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0
    // The time until the next sample is spent where this one was taken.
    if (at >= from && at < to) own.set(id, (own.get(id) ?? 0) + (timeDeltas[index + 1] ?? 0))
  }
  return own
}

function nameOf({ functionName, url }: { functionName: string; url: string }): string {
  const name = functionName === '' ? 'anonymous' : functionName
  const place = placeOf(url)
  return place === undefined ? name : `${name} (${place})`
}

function placeOf(url: string): string | undefined {
  if (url.startsWith('node:')) return url
  const [, library] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  const [, own, file] = /packages\/([^/]+)\/.*?([^/]+)\.[jt]s$/.exec(url) ?? []
  return library ?? (own === undefined ? undefined : `${own}: ${file}`)
}
