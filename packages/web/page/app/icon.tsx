import type { IconNode } from 'lucide'
import { h, type JSX } from 'preact'

interface IconProps {
  /** A drawing of lucide. */
  readonly of: IconNode
  readonly size?: number
}

/** A drawing beside words, or in a button with a label; screen readers pass over it. */
export function Icon({ of, size = 18 }: IconProps): JSX.Element {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {of.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  )
}
