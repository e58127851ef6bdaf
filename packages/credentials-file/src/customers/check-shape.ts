import type { CustomersData } from './customers-schema.ts'
import { validate, type ShapeError } from './customers-validator.ts'

/** Judges the shape of `data`: the data typed, or what is wrong with it. */
export function checkShape(
  data: unknown,
): { readonly data: CustomersData } | { readonly errors: readonly ShapeError[] } {
  return validate(data) ? { data: data as CustomersData } : { errors: validate.errors ?? [] }
}
