import type { IconNode } from 'lucide'
import { h, type JSX } from 'preact'

interface IconProps {
  /** An icon of lucide. */
  readonly of: IconNode
  readonly size?: number
}

/** An icon beside words, or in a button with a label; screen readers ignore it. */
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

interface IconButtonProps {
  readonly icon: IconNode
  /** What it does, for screen readers and as a hint. */
  readonly label: string
  readonly onClick: (event: MouseEvent) => void
  readonly class?: string
  readonly tabIndex?: number
  /** Whether what it shows is shown; left out for other buttons. */
  readonly isPressed?: boolean
}

export function IconButton(props: IconButtonProps): JSX.Element {
  const { icon, label, onClick, isPressed, ...rest } = props
  return (
    <button
      type="button"
      {...rest}
      {...(isPressed !== undefined && { 'aria-pressed': isPressed })}
      class={`icon-button ${rest.class ?? ''}`}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon of={icon} />
    </button>
  )
}

/** The logo: a stem that its roots hold to the ground, which is what a holdfast is. */
export function Logo({ size = 28 }: { readonly size?: number }): JSX.Element {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" class="logo-ground" />
      <path
        class="logo-lines"
        fill="none"
        stroke-width="2.4"
        stroke-linecap="round"
        d="M16 6v12M16 18c0 4-3 4.500-7.500 7.500M16 18c0 4 3 4.500 7.500 7.500M16 18v8M16 12c0-3 2.500-4 5-4M16 15c0-3-2.500-4-5-4"
      />
    </svg>
  )
}
