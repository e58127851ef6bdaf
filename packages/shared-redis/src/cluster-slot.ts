const slotCount = 16_384

/** The slot of a key in a Cluster (Redis Cluster specification, "Key distribution model" and "Hash tags"). */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key
  return crc16(Buffer.from(hashed)) % slotCount
}

/** CRC-16/XMODEM: polynomial 0x1021, initial value 0. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) crc = ((crc << 8) & 0xff_ff) ^ (table[(crc >> 8) ^ byte] ?? 0)
  return crc
}

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80_00 ? (crc << 1) ^ 0x10_21 : crc << 1
  return crc & 0xff_ff
})
