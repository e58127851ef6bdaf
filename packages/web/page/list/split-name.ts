/** Letters that change their form beside others, and marks: a cut among them would be seen. */
const joined = /[\p{M}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}]/u

/** A name in two: what may be cut where there is no room, and its end with the extension, which may not. */
export function splitName(name: string): readonly [start: string, end: string] {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= 8 ? name.slice(dot) : ''
  // By characters, since half of a pair is none.
  const stem = Array.from(name.slice(0, name.length - extension.length))
  const kept = stem.length > 12 && !joined.test(stem.slice(-5).join('')) ? 4 : 0
  return [
    stem.slice(0, stem.length - kept).join(''),
    stem.slice(stem.length - kept).join('') + extension,
  ]
}
