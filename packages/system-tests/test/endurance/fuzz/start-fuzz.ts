import type { Finding, FuzzTarget } from './fuzz-target.ts'

export interface FuzzOptions {
  readonly targets: readonly FuzzTarget[]
  /** All inputs follow from it, a whole number. */
  readonly seed: number
  /** Inputs in all, which the targets share. */
  readonly runs: number
  /** Where an earlier finding is to be found again. */
  readonly path?: string | undefined
}

/** A run that has begun. */
export interface Fuzz {
  /** Resolves when every target has had its inputs, or has found something. */
  readonly ended: Promise<readonly Finding[]>
  /** In one line. */
  progress(): string
  /** What was done, a line each target. */
  summary(): readonly string[]
  /** In one line. */
  figures(): string
}

/** Feeds one target after the other. */
export function startFuzz({ targets, seed, runs, path }: FuzzOptions): Fuzz {
  const begin = performance.now()
  const tried = new Map<string, number>()
  const found: Finding[] = []
  const shares = targets.reduce((sum, { share }) => sum + share, 0)
  let current = ''

  const all = async () => {
    for (const target of targets) {
      const { name, share } = target
      current = name
      const onInput = () => void tried.set(name, (tried.get(name) ?? 0) + 1)
      const own = Math.ceil((runs * share) / shares)
      const finding = await target.fuzz({ seed, runs: own, path, onInput })
      if (finding) found.push(finding)
    }
    return found
  }
  const inputs = () => [...tried.values()].reduce((sum, count) => sum + count, 0)
  const seconds = () => (performance.now() - begin) / 1000
  const rate = () => Math.round(inputs() / seconds())
  return {
    ended: all(),
    progress: () =>
      `${current}: ${tried.get(current) ?? 0}; in all ${inputs()} of ${runs}, ${rate()}/s, ${found.length} findings`,
    summary: () => [...tried].map(([name, count]) => `${count} ${name}`),
    figures: () =>
      `${inputs()} inputs for ${tried.size} targets in ${Math.round(seconds())} s, ${found.length} findings, seed ${seed}`,
  }
}

/** A finding for people: what happened to which input, and how to see it again. */
export function describeFinding({ target, seed, path, input, message }: Finding): string {
  const place = path === undefined ? '' : ` --path ${path}`
  return [
    `${target}: ${message}`,
    `Input: ${input}`,
    `Again: scripts/fuzz --target ${target} --seed ${seed}${place}`,
  ].join('\n')
}
