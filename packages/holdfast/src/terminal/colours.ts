import { styleText } from 'node:util'
import { standardError } from './print.ts'

type Colour = 'magenta' | 'cyan' | 'red' | 'green'

/** What names end with, by the kind of the file, as `ls` of GNU colours them. */
const kinds: readonly (readonly [colour: Colour, ending: RegExp])[] = [
  [
    'magenta',
    /\.(avif|bmp|gif|heic|ico|jpe?g|png|svg|tiff?|webp|avi|m4v|mkv|mov|mp4|mpe?g|webm)$/i,
  ],
  ['cyan', /\.(aac|flac|m4a|mid|mp3|ogg|opus|wav)$/i],
  ['red', /\.(7z|bz2|deb|gz|iso|jar|rar|rpm|tar|tgz|txz|xz|zip|zst)$/i],
]

/** The text of a name for standard output, in the colour of its kind, where that is a terminal and `NO_COLOR` is not set. */
export function colouredName(name: string, text: string): string {
  const [colour] = kinds.find(([, ending]) => ending.test(name)) ?? []
  return colour === undefined ? text : styleText(colour, text, { stream: process.stdout })
}

/** The beginning of a failure for standard error, in red where that is a terminal and `NO_COLOR` is not set. */
export function failureMark(): string {
  return styleText('red', 'holdfast:', { stream: standardError() })
}
