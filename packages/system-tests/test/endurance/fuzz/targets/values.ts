import { expect } from 'chai'
import fc from 'fast-check'
import { parseByteSize } from '../../../../../core/src/setup.ts'
import { parseScryptHash } from '../../../../../passwords/src/compute-scrypt.ts'
import { parseDuration } from '../../../../../server/src/config/parse-setting.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { mutatedText } from '../mutations.ts'

const digits = fc.oneof(
  fc.nat(2000).map(String),
  fc.nat(2 ** 31 - 1).map(String),
  fc.constantFrom(
    '0',
    '00',
    '1.5',
    '0.1',
    '.5',
    '5.',
    '1e3',
    '9007199254740991',
    '9007199254740992',
    '9'.repeat(25),
  ),
)
const units = [
  '',
  'B',
  'kB',
  'KB',
  'MB',
  'gb',
  'TB',
  'KiB',
  'mib',
  'GiB',
  'TiB',
  'K',
  'PB',
  'ms',
  's',
  'm',
  'h',
  'd',
]
const quantity = fc
  .tuple(digits, fc.constantFrom('', ' ', '  ', '\t'), fc.constantFrom(...units))
  .map((all) => all.join(''))
const phc = fc.constantFrom(
  '$scrypt$ln=15,r=8,p=1$c2FsdHNhbHRzYWx0$TuyRfCrtc6wGMWOCP2Y2J2HQ8ZlvAuWCCyzsZrCYtrw',
  '$scrypt$ln=4,r=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
)
const inputs = fc.record({
  quantity: fc.oneof(quantity, mutatedText(quantity, 2)),
  phc: mutatedText(phc, 3),
})

/** Sizes, times and hashes as people write them, against what docs/configuration.md says of them. */
export function values(): FuzzTarget {
  return createTarget({
    name: 'values',
    share: 8,
    inputs,
    open: () => ({
      check({ quantity, phc }) {
        expect(
          outcome(() => parseByteSize(quantity)),
          'size',
        ).to.equal(sizeModel(quantity))
        expect(
          outcome(() => parseDuration(quantity)),
          'time',
        ).to.equal(timeModel(quantity))
        expectHash(phc)
      },
    }),
  })
}

/** `undefined` for a refusal. */
function outcome<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}

/** A decimal number as a whole one of its smallest digits, and how many of those there are; and the unit in lower case. */
function taken(text: string) {
  const [, whole = '', fraction = '', unit = ''] =
    /^([0-9]+)(?:\.([0-9]+))?\s*([a-zA-Z]*)$/.exec(text.trim()) ?? []
  if (whole === '' || whole.length > 20 || fraction.length > 20) return undefined
  return { units: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length), unit }
}

function sizeModel(text: string): number | undefined {
  const found = taken(text)
  if (found === undefined) return undefined
  const { units, scale, unit } = found
  const [, letter, binary] = /^([kmgt])?(i)?b$/i.exec(unit === '' ? 'b' : unit) ?? []
  const isUnit = unit === '' || /^[kmgt]?i?b$/i.test(unit)
  if (!isUnit || (binary !== undefined && letter === undefined)) return undefined
  const power = letter === undefined ? 0n : BigInt('kmgt'.indexOf(letter.toLowerCase()) + 1)
  const bytes = (units * (binary ? 1024n : 1000n) ** power) / scale
  return bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : undefined
}

const unitsOfTime: Readonly<Record<string, bigint>> = {
  ms: 1n,
  s: 1000n,
  m: 60_000n,
  h: 3_600_000n,
}

function timeModel(text: string): number | undefined {
  const found = taken(text)
  const factor = unitsOfTime[found?.unit ?? '']
  if (found === undefined || factor === undefined) return undefined
  const { units, scale } = found
  if (scale > 1000n || `${units}`.length > 13) return undefined
  // Rounded to the nearest, half a millisecond upwards.
  const exact = units * factor
  const isLongEnough = exact >= scale && exact <= BigInt(2 ** 31 - 1) * scale
  return isLongEnough ? Number((exact * 2n + scale) / (scale * 2n)) : undefined
}

/** What is taken for a hash has the parts that it says, and no other text stands for them. */
function expectHash(text: string): void {
  const parsed = outcome(() => parseScryptHash(text))
  if (parsed === undefined) return
  const { cost, salt, hash } = parsed
  const encoded = [salt, hash].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  expect(text.slice(text.indexOf('$', 8) + 1)).to.equal(encoded.join('$'))
  expect(salt.length).to.be.within(8, 64)
  expect(hash.length).to.be.within(16, 64)
  expect(128 * cost.r * (2 ** cost.ln + cost.p)).to.be.at.most(256 * 2 ** 20)
}
