/**
 * Remembers that customers have ended their links. Links are not stored, so a customer's links are made for a generation, and end with
 * it. Every sentence here is a test in `@holdfast/contract`.
 */
export interface LinkGenerations {
  /** The present generation; `''` for a customer who has never ended links. */
  read(customer: string): Promise<string>
  /**
   * Begins a generation that the customer never had: 1 to 64 letters and digits. When it resolves, with that generation or one that has
   * begun since, all openings of the store read it, and no crash brings an earlier one back.
   */
  renew(customer: string): Promise<string>
}
