/** What came of looking whether something holds. Further fields say more of it. */
export interface CheckResult {
  readonly ok: boolean
  /** What is wrong, for an administrator. */
  readonly why?: string
  readonly [detail: string]: unknown
}

/** Something that has to hold for a server to be sent requests. */
export interface Check {
  readonly name: string
  look(): CheckResult | Promise<CheckResult>
}
