import { hashPassword, type ScryptCost } from '@holdfast/passwords'

/** So little that a test may hash as much as it likes. */
export const cheapCost: ScryptCost = { ln: 4, r: 8, p: 1 }

export const cheapHash = (password: string) => hashPassword(password, cheapCost)
