import type { JSX } from 'preact'

/** The mark: a stem that its roots hold to the ground, which is what a holdfast is. */
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
