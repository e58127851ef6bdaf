import { showProgress } from '../endurance/show-progress.ts'
import type { Failure } from './report.ts'

interface Titled {
  readonly title: string
}

interface Ended {
  readonly job: Titled
  readonly result: {
    readonly output: string
    readonly failures: readonly Failure[]
    readonly processorSeconds?: number | undefined
  }
  readonly seconds: number
}

/** Reports on `all` jobs: what each has said when it has ended, and on a terminal what is under way. */
export function announce(all: number): {
  readonly onStart: (job: Titled) => void
  readonly onEnd: (ended: Ended) => void
  readonly end: () => void
} {
  const startedAt = performance.now()
  const running = new Set<Titled>()
  let [done, failed] = [0, 0]
  const line = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const titles = [...running].map(({ title }) => title.replace(/^.*\//, ''))
    return `${done} of ${all}, ${failed} failed, ${seconds} s: ${titles.join(', ')}`
  }
  const { stderr } = process
  const end = stderr.isTTY ? showProgress(stderr, line) : () => {}
  return {
    onStart: (job) => void running.add(job),
    onEnd: ({ job, result, seconds }) => {
      running.delete(job)
      done++
      failed += result.failures.length
      if (stderr.isTTY) stderr.write('\r\u001b[K')
      console.log(textOf(`${job.title} (${done} of ${all})`, result, seconds))
    },
    end,
  }
}

function textOf(title: string, result: Ended['result'], seconds: number): string {
  const { output, failures, processorSeconds } = result
  const outcome = failures.length === 0 ? 'ok' : 'FAILED'
  const text = output.trim() === '' ? '' : `${output.replace(/^\n+|\s+$/g, '')}\n`
  const cost = processorSeconds === undefined ? '' : `, ${processorSeconds.toFixed(1)} of processor`
  return `\n== ${title}\n${text}   ${outcome} (${seconds.toFixed(1)} s${cost})`
}
