import { compareUtf8 } from '@holdfast/core'

/** A run from its next name on. */
interface Rest {
  readonly run: Iterator<string>
  head: string
}

/** Merges sorted `runs` into one sorted sequence without duplicates. */
export function* mergeRuns(runs: readonly Iterator<string>[]): Generator<string> {
  const heap: Rest[] = []
  for (const run of runs) {
    const head = run.next()
    if (!head.done) heap.push({ run, head: head.value })
  }
  // Runs in order of their heads are a heap.
  heap.sort((a, b) => compareUtf8(a.head, b.head))
  let given: string | undefined
  for (let first = heap[0]; first; first = heap[0]) {
    if (first.head !== given) yield (given = first.head)
    const head = first.run.next()
    const last = head.done ? heap.pop() : first
    if (!head.done) first.head = head.value
    if (last && heap.length > 0) sink(heap, last)
  }
}

/** Replaces the first of a heap by `rest`, and restores the order of the heap. */
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
