/** Somebody who keeps files here, once it is certain that it is them. */
export interface Customer {
  readonly name: string
  /** The most bytes the customer may keep. Default: no limit. */
  readonly quota?: number
}
