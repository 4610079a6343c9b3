// xoshiro128**: a generator of 32-bit words with the full period 2^128 - 1, and a state of four words that a checkpoint
// can store. It is the exchange's only source of randomness, so a block depends on seed and height only.

export type PrngState = readonly [number, number, number, number]

const rotl = (x: number, k: number) => ((x << k) | (x >>> (32 - k))) >>> 0

/** One step of splitmix32, which spreads a small seed over a word. */
function spread(seed: number, word: number): number {
  let z = (seed + Math.imul(word + 1, 0x9e3779b9)) >>> 0
  z = Math.imul(z ^ (z >>> 16), 0x85ebca6b)
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35)
  return (z ^ (z >>> 16)) >>> 0
}

/** Initial state of a seed; never all zero, which would be a fixed point. */
export function seedState(seed: number): PrngState {
  const high = Math.floor(seed / 2 ** 32) >>> 0
  const low = seed >>> 0
  return [spread(low, 0), spread(low ^ high, 1), spread(low, 2), (spread(high, 3) | 1) >>> 0]
}

export class Prng {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(state: PrngState) {
    ;[this.#a, this.#b, this.#c, this.#d] = state
  }

  /** A random word of 32 bits. */
  word(): number {
    const result = Math.imul(rotl(Math.imul(this.#b, 5) >>> 0, 7), 9) >>> 0
    const t = (this.#b << 9) >>> 0
    this.#c = (this.#c ^ this.#a) >>> 0
    this.#d = (this.#d ^ this.#b) >>> 0
    this.#b = (this.#b ^ this.#c) >>> 0
    this.#a = (this.#a ^ this.#d) >>> 0
    this.#c = (this.#c ^ t) >>> 0
    this.#d = rotl(this.#d, 11)
    return result
  }

  /** A random integer in [0, n). `n`: at most 2^32. */
  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n)
  }

  /** A random integer in [low, high], both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True with a probability of `ppm` in a million. */
  chance(ppm: number): boolean {
    return this.below(1_000_000) < ppm
  }

  /** A random element of a list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }

  /** A string of `2 * bytes` random hex digits in lower case. */
  hex(bytes: number): string {
    let text = ''
    for (let left = bytes * 2; left > 0; left -= 8) text += this.word().toString(16).padStart(8, '0').slice(0, left)
    return text
  }

  state(): PrngState {
    return [this.#a, this.#b, this.#c, this.#d]
  }
}
