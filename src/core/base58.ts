// Random identifiers in the 58 characters that no reader mistakes for one another.

export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** `count` uniform base58 characters; draws again where a byte would favour some characters. */
export function randomBase58(count: number, random: (bytes: number) => Uint8Array): string {
  const limit = 256 - (256 % BASE58.length)
  let text = ''
  while (text.length < count) {
    for (const byte of random(count)) if (byte < limit && text.length < count) text += BASE58[byte % BASE58.length]
  }
  return text
}
