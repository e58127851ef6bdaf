/**
 * The Mann-Whitney U test of whether two samples come from one distribution, as a normal deviate with the correction
 * for ties: about 0 if they do, positive where `one` tends to be larger. By ranks, so that a few slow outliers count
 * for no more than other large values.
 */
export function mannWhitney(one: readonly number[], other: readonly number[]): number {
  const all = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ]
  all.sort((a, b) => a.value - b.value)
  let rankSum = 0
  let ties = 0
  for (let first = 0; first < all.length;) {
    let next = first
    while (next < all.length && all[next]?.value === all[first]?.value) next++
    const rank = (first + next + 1) / 2
    rankSum += rank * all.slice(first, next).filter(({ isOne }) => isOne).length
    ties += (next - first) ** 3 - (next - first)
    first = next
  }
  const [m, n] = [one.length, other.length]
  const u = rankSum - (m * (m + 1)) / 2
  const variance = ((m * n) / 12) * (m + n + 1 - ties / ((m + n) * (m + n - 1)))
  return (u - (m * n) / 2) / Math.sqrt(variance)
}
