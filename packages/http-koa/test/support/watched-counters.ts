import type { UseCount, UseCounter } from '@holdfast/core'
import { createRequestCounters, type RequestCounters } from '../../src/guards/enter.ts'

interface Watch {
  /** Called with a name such as `all` or `perCustomer demo`. */
  readonly onChange: (name: string, by: 1 | -1) => void
  readonly onCount?: (name: string) => void
}

/** Counters of which every use is reported. */
export function watchRequestCounters({ onChange, onCount = () => {} }: Watch): RequestCounters {
  const counters = createRequestCounters()
  const one = (name: string, count: UseCount): UseCount => ({
    count() {
      onCount(name)
      return count.count()
    },
    change(by) {
      onChange(name, by)
      count.change(by)
    },
  })
  const keyed = (name: string, counter: UseCounter): UseCounter => ({
    count(key) {
      onCount(`${name} ${key}`)
      return counter.count(key)
    },
    change(key, by) {
      onChange(`${name} ${key}`, by)
      counter.change(key, by)
    },
  })
  return {
    all: one('all', counters.all),
    byLinks: one('byLinks', counters.byLinks),
    perCustomer: keyed('perCustomer', counters.perCustomer),
    byLinksPerCustomer: keyed('byLinksPerCustomer', counters.byLinksPerCustomer),
    byLinksPerNetwork: keyed('byLinksPerNetwork', counters.byLinksPerNetwork),
  }
}

/** Counters with the names of the slots that were taken, in order. */
export function recordSlots() {
  const taken: string[] = []
  const onChange = (name: string, by: 1 | -1) => void (by === 1 && taken.push(name))
  return { taken, requestCounters: watchRequestCounters({ onChange }) }
}
