import type { ReadonlySignal } from '@preact/signals'
import type { Client, FileDetails } from '@holdfast/client/browser'

export interface CustomerCredentials {
  readonly customer: string
  readonly password: string
}

/** The page's connection to the server, as one customer. */
export interface Connection {
  readonly customer: string
  /** Retries nothing by itself: the page does, and shows it. */
  readonly client: Client
  /** Whether the server refuses the password, so that nothing is sent; `renew` ends that. */
  readonly isRefused: ReadonlySignal<boolean>
  renew(password: string): void
  /** The address of a route, such as `link/a`. */
  url(path: string): string
}

/** An entry of a list: a file, an earlier version of a file, or a folder. */
export interface ViewedFile extends FileDetails {
  /** Left out for the present file. */
  readonly version?: string
  /** Left out for files. A folder has the size of its files, and the time of the one that was changed last. */
  readonly folder?: Folder
}

/** Files whose names begin with the same words before ` - `. */
export interface Folder {
  /** What the names begin with. */
  readonly prefix: string
  readonly title: string
  /** How many of its files are loaded. */
  readonly count: number
}

/** Access to the content of a customer's files: by links if the server makes them. */
export interface CustomerAccess {
  readonly connection: Connection
  readonly hasLinks: boolean
}
