/** JSON Schema of the body of `POST /delete/batch`, without the limit on the number of names. */
export const namesSchema = { type: 'array', items: { type: 'string' } }
