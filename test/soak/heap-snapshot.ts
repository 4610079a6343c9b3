// Reads a V8 heap snapshot as a stream (its text is larger than a string can be), and computes the retained size of an
// object: what would be freed with it alone.

/** Of the snapshot format: where the numbers of a node that matter stand, however many there are. */
const NODE = { type: 0, name: 1, size: 3, edges: 4 }
const OBJECT_TYPE = 3
const EDGE = { fields: 3, type: 0, name: 1, to: 2 }
const CLOSURE_TYPE = 5
const PROPERTY_EDGE = 2
const WEAK_EDGE = 6
const COMMA = 44
const OPEN = 91
const CLOSE = 93
const ZERO = 48
const NINE = 57

/** Reads `"nodes":[…]` and `"edges":[…]`, and keeps the rest of the text. */
export class SnapshotReader {
  readonly #arrays = { nodes: new Numbers(), edges: new Numbers() }
  #into: Numbers | null = null
  /** Text outside the two arrays; the strings stand in it. */
  #rest: string[] = []
  #tail = ''
  readonly #decoder = new TextDecoder()

  take(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#into !== null) {
        at = this.#into.take(chunk, at)
        if (at < chunk.length) this.#into = null
        continue
      }
      const open = chunk.indexOf(OPEN, at)
      const to = open < 0 ? chunk.length : open + 1
      const text = this.#decoder.decode(chunk.subarray(at, to), { stream: true })
      this.#rest.push(text)
      this.#tail = (this.#tail + text).slice(-16)
      at = to
      const name = /"(nodes|edges)":\[$/.exec(this.#tail)?.[1]
      if (open >= 0 && name !== undefined) this.#into = this.#arrays[name as 'nodes' | 'edges']
    }
  }

  heap(): Heap {
    const text = this.#rest.join('')
    const strings = JSON.parse(text.slice(text.lastIndexOf('"strings":[') + 10, text.lastIndexOf(']') + 1)) as string[]
    const fields = /"node_fields":\[([^\]]*)\]/.exec(text)![1]!.split(',').length
    return new Heap(fields, this.#arrays.nodes.all(), this.#arrays.edges.all(), strings)
  }
}

/** Whole numbers between commas, in a typed array that grows. */
class Numbers {
  #values = new Uint32Array(1 << 16)
  #count = 0
  #value = 0
  #isIn = false

  /** Reads up to the closing bracket; answers where it stands, or the length of the chunk. */
  take(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (byte >= ZERO && byte <= NINE) {
        this.#value = this.#value * 10 + byte - ZERO
        this.#isIn = true
      } else if (byte === COMMA || byte === CLOSE) {
        this.#push()
        if (byte === CLOSE) return at
      }
    }
    return chunk.length
  }

  all(): Uint32Array {
    return this.#values.subarray(0, this.#count)
  }

  #push(): void {
    if (!this.#isIn) return
    if (this.#count === this.#values.length) {
      const more = new Uint32Array(this.#values.length * 2)
      more.set(this.#values)
      this.#values = more
    }
    this.#values[this.#count++] = this.#value
    this.#value = 0
    this.#isIn = false
  }
}

export interface Retained {
  readonly name: string
  readonly bytes: number
}

export class Heap {
  readonly #fields: number
  readonly #nodes: Uint32Array
  readonly #edges: Uint32Array
  readonly #strings: readonly string[]
  /** Index of the first edge of each node, and one more. */
  readonly #first: Uint32Array
  readonly #whole: number

  /** `fields`: how many numbers a node has. */
  constructor(fields: number, nodes: Uint32Array, edges: Uint32Array, strings: readonly string[]) {
    this.#fields = fields
    this.#nodes = nodes
    this.#edges = edges
    this.#strings = strings
    const count = nodes.length / fields
    this.#first = new Uint32Array(count + 1)
    for (let node = 0; node < count; node++)
      this.#first[node + 1] = this.#first[node]! + nodes[node * fields + NODE.edges]!
    this.#whole = this.#reachable(-1)
  }

  get bytes(): number {
    return this.#whole
  }

  /**
   * What each instance of these classes retains, the largest first. Instances are found by their prototype, because
   * those of the platform's own classes bear another name; a bundler may have put `_` before that of a class.
   */
  retained(classes: readonly string[]): Retained[] {
    const prototypes = new Map<number, string>()
    const count = this.#first.length - 1
    for (let node = 0; node < count; node++) {
      if (this.#nodes[node * this.#fields + NODE.type] !== CLOSURE_TYPE || !classes.includes(this.#nameOf(node)))
        continue
      const prototype = this.#property(node, 'prototype')
      if (prototype !== null) prototypes.set(prototype, this.#nameOf(node))
    }
    const found: Retained[] = []
    for (let node = 0; node < count; node++) {
      const name = prototypes.get(this.#property(node, '__proto__') ?? -1)
      if (name !== undefined) found.push({ name, bytes: this.#whole - this.#reachable(node) })
    }
    return found.sort((a, b) => b.bytes - a.bytes)
  }

  kinds(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (let node = 0; node < this.#first.length - 1; node++) {
      if (this.#nodes[node * this.#fields + NODE.type] !== OBJECT_TYPE) continue
      const name = this.#nameOf(node)
      // Contexts and shapes are numbered anew in each snapshot.
      if (!name.startsWith('system / ')) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return counts
  }

  #nameOf(node: number): string {
    return this.#strings[this.#nodes[node * this.#fields + NODE.name]!]!.replace(/^_/, '')
  }

  #property(node: number, name: string): number | null {
    for (let edge = this.#first[node]!; edge < this.#first[node + 1]!; edge++) {
      const at = edge * EDGE.fields
      if (this.#edges[at + EDGE.type] === PROPERTY_EDGE && this.#strings[this.#edges[at + EDGE.name]!] === name)
        return this.#edges[at + EDGE.to]! / this.#fields
    }
    return null
  }

  /** Bytes of all that is reached from the root without going through a node. */
  #reachable(without: number): number {
    const seen = new Uint8Array(this.#first.length - 1)
    const stack = new Uint32Array(this.#first.length)
    let depth = 1
    let bytes = 0
    seen[0] = 1
    if (without >= 0) seen[without] = 1
    while (depth > 0) {
      const node = stack[--depth]!
      bytes += this.#nodes[node * this.#fields + NODE.size]!
      for (let edge = this.#first[node]!; edge < this.#first[node + 1]!; edge++) {
        if (this.#edges[edge * EDGE.fields + EDGE.type] === WEAK_EDGE) continue
        const to = this.#edges[edge * EDGE.fields + EDGE.to]! / this.#fields
        if (seen[to] === 1) continue
        seen[to] = 1
        stack[depth++] = to
      }
    }
    return bytes
  }
}
