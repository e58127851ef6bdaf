/** The cost of a scrypt hash that takes so little that a test may hash as much as it likes. */
export const cheapCost = { ln: 4, r: 8, p: 1 } as const
