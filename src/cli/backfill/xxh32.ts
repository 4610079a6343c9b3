// xxHash of 32 bits with seed 0, by which LZ4 frames tell that they came whole (github.com/Cyan4973/xxHash, doc/xxhash_spec).

const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1] as const
const STRIPE = 16

const rotated = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))
const round = (lane: number, word: number): number => Math.imul(rotated((lane + Math.imul(word, P2)) | 0, 13), P1)

export class Xxh32 {
  readonly #lanes = new Int32Array([P1 + P2, P2, 0, -P1])
  readonly #rest = new Uint8Array(STRIPE)
  #held = 0
  #length = 0

  update(bytes: Uint8Array): this {
    this.#length += bytes.length
    let at = 0
    if (this.#held > 0) {
      at = Math.min(STRIPE - this.#held, bytes.length)
      this.#rest.set(bytes.subarray(0, at), this.#held)
      this.#held += at
      if (this.#held < STRIPE) return this
      this.#stripes(this.#rest, 0, STRIPE)
    }
    const whole = at + Math.floor((bytes.length - at) / STRIPE) * STRIPE
    this.#stripes(bytes, at, whole)
    this.#rest.set(bytes.subarray(whole))
    this.#held = bytes.length - whole
    return this
  }

  #stripes(bytes: Uint8Array, from: number, to: number): void {
    let [a, b, c, d] = this.#lanes as unknown as [number, number, number, number]
    for (let at = from; at < to; at += STRIPE) {
      a = round(a, wordAt(bytes, at))
      b = round(b, wordAt(bytes, at + 4))
      c = round(c, wordAt(bytes, at + 8))
      d = round(d, wordAt(bytes, at + 12))
    }
    this.#lanes.set([a, b, c, d])
  }

  /** Of all bytes so far, unsigned. */
  digest(): number {
    const [a, b, c, d] = this.#lanes as unknown as [number, number, number, number]
    const isLong = this.#length >= STRIPE
    let hash = isLong ? rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18) : P5
    hash = (hash + this.#length) | 0
    let at = 0
    for (; at + 4 <= this.#held; at += 4)
      hash = Math.imul(rotated((hash + Math.imul(wordAt(this.#rest, at), P3)) | 0, 17), P4)
    for (; at < this.#held; at++) hash = Math.imul(rotated((hash + Math.imul(this.#rest[at]!, P5)) | 0, 11), P1)
    hash = Math.imul(hash ^ (hash >>> 15), P2)
    hash = Math.imul(hash ^ (hash >>> 13), P3)
    return (hash ^ (hash >>> 16)) >>> 0
  }
}

/** Four bytes, the least first. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}
