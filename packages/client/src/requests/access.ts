import type { Credentials } from './credentials.ts'

/** Where requests go, and what lets them in. */
export interface Access {
  /** Paths are appended to it. */
  readonly base: URL
  /** What follows the path: '' or `?` and more. */
  readonly query: string
  readonly credentials: Credentials
  /** Whether files may be looked at. A link to upload lets nothing in but uploads. */
  readonly mayRead: boolean
}
