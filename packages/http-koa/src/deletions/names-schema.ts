/** JSON Schema of the body of `POST /delete/batch`, apart from how many names it may have. */
export const namesSchema = { type: 'array', items: { type: 'string' } }
