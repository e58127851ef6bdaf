import { compareUtf8 } from '@holdfast/core'

/** What is left of a run. */
interface Rest {
  readonly run: Iterator<string>
  head: string
}

/** The strings of `runs`, each of which is in order, in order and each once. */
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
