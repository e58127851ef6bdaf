/**
 * From now on keeps the lines `figures: …` that suites log when they have counted something: kills, faults, bad inputs.
 * Such a line drowns among thousands of tests. The function returned ends that, and gives them in the order of the log.
 */
export function collectFigures(): () => readonly string[] {
  const figures: string[] = []
  const { log } = console
  console.log = (...values: readonly unknown[]) => {
    const [first] = values
    if (typeof first === 'string' && first.startsWith('figures: ')) figures.push(first)
    log(...values)
  }
  return () => {
    console.log = log
    return figures
  }
}
