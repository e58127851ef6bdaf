/** What progress is shown on; standard error is one. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Milliseconds between two looks: on a terminal, and elsewhere. */
const intervals = { redrawn: 250, logged: 5000 }

const eraseLine = '\r\u001b[K'

/** Shows what `line` says: on a terminal in one line that is redrawn, elsewhere as a line every five seconds. */
export function showProgress(output: ProgressOutput, line: () => string): () => void {
  const isRedrawn = output.isTTY === true
  const show = () => {
    // A character in the last column would make some terminals begin a new line.
    if (isRedrawn) output.write(eraseLine + line().slice(0, (output.columns ?? 80) - 1))
    else output.write(`${line()}\n`)
  }
  const timer = setInterval(show, isRedrawn ? intervals.redrawn : intervals.logged)
  return () => {
    clearInterval(timer)
    if (isRedrawn) output.write(eraseLine)
  }
}
