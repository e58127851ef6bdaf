import type { IconNode } from 'lucide'
import type { JSX } from 'preact'
import { Icon } from './icon.tsx'

interface IconButtonProps {
  readonly icon: IconNode
  /** What it does, for screen readers and as a hint. */
  readonly label: string
  readonly onClick: (event: MouseEvent) => void
  readonly class?: string
  readonly tabIndex?: number
}

export function IconButton({ icon, label, onClick, ...rest }: IconButtonProps): JSX.Element {
  return (
    <button
      type="button"
      {...rest}
      class={`icon-button ${rest.class ?? ''}`}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon of={icon} />
    </button>
  )
}
