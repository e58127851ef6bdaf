/**
 * Undoes what a list did to its keys: nothing, unless its `EncodingType` says `url`. A server may ignore the question for
 * it. A key that is no such encoding is taken as it is, so that it hides no other.
 */
export function keyDecoder(encodingType: string | undefined): (key: string) => string {
  return encodingType === 'url' ? decodeUrl : (key) => key
}

function decodeUrl(encoded: string): string {
  try {
    // A plus stands for a space.
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    return encoded
  }
}
