import { compareUtf8, sortUtf8 } from '@holdfast/core'

/** Takes names in any order, some perhaps more than once, and gives each once, in order. */
export interface NameSorter {
  add(name: string): void
  /** The first of those added, in ascending order of their UTF-8 bytes; to be called once, at the end. */
  sorted(): Iterable<string>
}

/** What is sorted in a few milliseconds, and no more names than that at a time: other requests wait meanwhile. */
const defaultRunLength = 8192

/**
 * Sorts names in runs, which it merges as their names are asked for, so that no step takes long and the first name is
 * there soon. Gives the first `limit`; where that is less than a run, it keeps no more than a run.
 */
export function createNameSorter(limit: number, runLength = defaultRunLength): NameSorter {
  const runs: string[][] = []
  let run: string[] = []
  /** Not among the first `limit` is what comes here or later. */
  let end: string | undefined

  const sortRun = () => {
    run = sortUtf8(run).filter((name, at, sorted) => name !== sorted[at - 1])
    if (run.length < limit) return
    run.length = limit
    end = run.at(-1)
  }

  return {
    add(name) {
      if (end !== undefined && compareUtf8(name, end) >= 0) return
      run.push(name)
      if (run.length < runLength) return
      sortRun()
      if (run.length * 2 < runLength) return
      runs.push(run)
      run = []
    },

    *sorted() {
      sortRun()
      let left = limit
      for (const name of mergeRuns([...runs, run])) {
        yield name
        if (--left === 0) return
      }
    },
  }
}

/** What is left of a run. */
interface Rest {
  readonly run: readonly string[]
  at: number
  head: string
}

/** The strings of `runs`, each of which is in order, in order and each once. */
function* mergeRuns(runs: readonly (readonly string[])[]): Generator<string> {
  const heap: Rest[] = []
  for (const run of runs) {
    const [head] = run
    if (head !== undefined) heap.push({ run, at: 0, head })
  }
  // Runs in order of their heads are a heap.
  heap.sort((a, b) => compareUtf8(a.head, b.head))
  let given: string | undefined
  for (let first = heap[0]; first; first = heap[0]) {
    if (first.head !== given) yield (given = first.head)
    const head = first.run[++first.at]
    const last = head === undefined ? heap.pop() : first
    if (head !== undefined) first.head = head
    if (last && heap.length > 0) sink(heap, last)
  }
}

/** Puts `rest` in the place of a heap's first, and moves it down to where it belongs. */
function sink(heap: Rest[], rest: Rest): void {
  let at = 0
  while (true) {
    const next = lesserChild(heap, at)
    const child = heap[next]
    if (!child || compareUtf8(rest.head, child.head) <= 0) break
    heap[at] = child
    at = next
  }
  heap[at] = rest
}

function lesserChild(heap: readonly Rest[], at: number): number {
  const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
  return left && right && compareUtf8(right.head, left.head) < 0 ? 2 * at + 2 : 2 * at + 1
}
