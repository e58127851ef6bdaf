/** Makes each formatter once. */
export function cached<Options, Made>(
  make: (language: string, options?: Options) => Made,
): (language: string, options?: Options) => Made {
  const made = new Map<string, Made>()
  return (language, options) => {
    const key = `${language} ${JSON.stringify(options)}`
    const known = made.get(key)
    if (known !== undefined) return known
    const formatter = make(language, options)
    made.set(key, formatter)
    return formatter
  }
}
