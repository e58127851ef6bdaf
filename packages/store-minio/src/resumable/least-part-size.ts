const MiB = 1024 * 1024

/**
 * The least size of the part `number` of an upload in pieces; what is smaller waits for more. S3 joins parts of 5 MiB
 * or more and at most 10,000 of them: however small the pieces are in which a file comes, it may have 216 GiB.
 */
export function leastPartSize(number: number): number {
  return number <= 1000 ? 5 * MiB : 24 * MiB
}
