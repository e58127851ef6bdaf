import type { Choices } from './choices.ts'

const KiB = 1024
const MiB = KiB ** 2

/** The quota of every second customer, in bytes: little enough to be exceeded now and then. */
export const quota = 6 * MiB

/** The size of a file to upload, in bytes: mostly small, sometimes nothing, rarely large. */
export function chooseSize(choices: Choices): number {
  const kind = choices.weighted({ none: 5, tiny: 10, small: 50, medium: 25, big: 9, large: 1 })
  switch (kind) {
    case 'none':
      return 0
    case 'tiny':
      return choices.between(1, 300)
    case 'small':
      return choices.between(300, 64 * KiB)
    case 'medium':
      return choices.between(64 * KiB, 512 * KiB)
    case 'big':
      return choices.between(512 * KiB, 3 * MiB)
    case 'large':
      return choices.between(3 * MiB, 12 * MiB)
  }
}
