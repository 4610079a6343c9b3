// Random identifiers in base58, whose characters are easy to distinguish.

export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Returns `count` uniformly distributed base58 characters. Bytes that would favor some characters are discarded. */
export function randomBase58(count: number, random: (bytes: number) => Uint8Array): string {
  const limit = 256 - (256 % BASE58.length)
  let text = ''
  while (text.length < count) {
    for (const byte of random(count)) if (byte < limit && text.length < count) text += BASE58[byte % BASE58.length]
  }
  return text
}
