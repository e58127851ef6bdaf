import { Counter, type Registry } from 'prom-client'

/** One counter, with its labels. */
export interface Count {
  add(by?: number): void
}

export interface CountsOptions<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly Label[]
}

/**
 * A counter by labels, given in the order of their names. Counting is one addition, since it happens at every request;
 * prom-client gets the values at a scrape. A count is exported from its creation on, at first as 0: Prometheus does not
 * see the first increase of a counter that begins with 1.
 */
export function createCounts<Label extends string>(
  register: Registry,
  { name, help, labelNames }: CountsOptions<Label>,
): (...values: readonly string[]) => Count {
  const counts = new Map<string, ReturnType<typeof createCount>>()
  const counter = new Counter<string>({
    name,
    help,
    labelNames: [...labelNames],
    registers: [register],
    collect() {
      for (const count of counts.values()) counter.inc(count.labels, count.take())
    },
  })
  return (...values) => {
    const key = values.join(' ')
    const known = counts.get(key)
    if (known) return known
    const count = createCount(labelNames, values)
    counts.set(key, count)
    return count
  }
}

function createCount(names: readonly string[], values: readonly string[]) {
  let pending = 0
  return {
    labels: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])),
    add(by = 1) {
      pending += by
    },
    take() {
      const taken = pending
      pending = 0
      return taken
    },
  }
}
