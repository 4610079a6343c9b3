// Reads the events of an ABI that an owner uploads. Invariants: entries, depth and decoded size are bounded before
// anything is decoded; errors name the location and never repeat the input.

import type { Issue } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'

export interface AbiInput {
  /** Unnamed inputs are named by position: `_0`. */
  readonly name: string
  readonly type: string
  readonly indexed: boolean
  readonly components: readonly AbiInput[]
}

export interface AbiEvent {
  readonly type: 'event'
  readonly name: string
  readonly inputs: readonly AbiInput[]
}

const MAX_EVENTS = 1_000
const MAX_INPUTS = 64
/** Maximum tuple nesting. */
const MAX_DEPTH = 8
const MAX_INDEXED = 3
const NAME = /^[A-Za-z_$][\w$]{0,63}$/
const TYPE =
  /^(address|bool|string|tuple|bytes(?:[1-9]|[12]\d|3[0-2])?|u?int(\d{1,3}))((?:\[(?:[1-9]\d{0,3})?\]){0,4})$/

class AbiError extends Error {
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/** The named events of an ABI. Functions and anonymous events are ignored. */
export function readAbi({ abi }: { readonly abi?: unknown }): Result<readonly AbiEvent[], Issue> {
  if (abi === undefined) return ok([])
  try {
    if (!Array.isArray(abi)) throw new AbiError('abi_file.abi', 'must be an array')
    const events = abi.flatMap((entry: unknown, at) => eventOf(entry, `abi_file.abi.${at}`) ?? [])
    if (events.length > MAX_EVENTS) throw new AbiError('abi_file.abi', `must have at most ${MAX_EVENTS} events`)
    return ok(events)
  } catch (error) {
    if (error instanceof AbiError) return err({ path: error.path, message: error.message })
    throw error
  }
}

function eventOf(entry: unknown, path: string): AbiEvent | null {
  const { type, name, inputs, anonymous } = recordOf(entry, path)
  if (typeof type !== 'string') throw new AbiError(`${path}.type`, 'must be a string such as "event"')
  if (type !== 'event' || anonymous === true) return null
  if (typeof name !== 'string' || !NAME.test(name)) throw new AbiError(`${path}.name`, 'must be an identifier')
  const read = inputsOf(inputs, `${path}.inputs`, 0)
  if (read.filter(({ indexed }) => indexed).length > MAX_INDEXED)
    throw new AbiError(`${path}.inputs`, `must have at most ${MAX_INDEXED} indexed inputs`)
  if (sizeOf(read) > MAX_INPUTS)
    throw new AbiError(`${path}.inputs`, `must have at most ${MAX_INPUTS} inputs, including tuple components`)
  return { type: 'event', name, inputs: read }
}

function inputsOf(inputs: unknown, path: string, depth: number): readonly AbiInput[] {
  if (!Array.isArray(inputs)) throw new AbiError(path, 'must be an array')
  if (inputs.length > MAX_INPUTS) throw new AbiError(path, `must have at most ${MAX_INPUTS} inputs`)
  const read = inputs.map((input: unknown, at) => inputOf(input, `${path}.${at}`, at, depth))
  const names = new Set(read.map(({ name }) => name))
  if (names.size < read.length) throw new AbiError(path, 'must have unique names')
  return read
}

function inputOf(input: unknown, path: string, at: number, depth: number): AbiInput {
  const { name = '', type, indexed = false, components = [] } = recordOf(input, path)
  const own = name === '' ? `_${at}` : name
  // `__proto__` would not become an ordinary property of an object.
  if (typeof own !== 'string' || !NAME.test(own) || own === '__proto__')
    throw new AbiError(`${path}.name`, 'must be an identifier')
  if (typeof indexed !== 'boolean') throw new AbiError(`${path}.indexed`, 'must be true or false')
  const [, base, bits = '8'] = (typeof type === 'string' && TYPE.exec(type)) || []
  const isWhole = Number(bits) % 8 === 0 && Number(bits) >= 8 && Number(bits) <= 256
  if (base === undefined || !isWhole)
    throw new AbiError(`${path}.type`, 'must be a Solidity type such as address, uint256, bytes32[] or tuple')
  const isTuple = base === 'tuple'
  if (isTuple && depth >= MAX_DEPTH) throw new AbiError(path, `must not nest tuples more than ${MAX_DEPTH} deep`)
  const parts = isTuple ? inputsOf(components, `${path}.components`, depth + 1) : []
  // An empty tuple takes no data, so a list could claim to contain any number of them.
  if (isTuple && parts.length === 0) throw new AbiError(`${path}.components`, 'must not be empty')
  const one = { name: own, type: type as string, indexed, components: parts }
  if (pointerLists(one) > 1)
    throw new AbiError(
      `${path}.type`,
      'must not nest lists of dynamically sized elements, because a few bytes could decode to a huge value',
    )
  return one
}

function recordOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new AbiError(path, 'must be an object')
}

const sizeOf = (inputs: readonly AbiInput[]): number =>
  inputs.reduce((sum, { components }) => sum + 1 + sizeOf(components), 0)

/** Base type and the list lengths, innermost first; empty: any length. */
export function listsOf(type: string): readonly [base: string, lengths: readonly string[]] {
  const [base = '', ...lengths] = type.split('[')
  return [base, lengths.map((length) => length.slice(0, -1))]
}

function isDynamic({ type, components }: AbiInput, lists: number): boolean {
  const [base, lengths] = listsOf(type)
  if (lengths.slice(0, lists).includes('')) return true
  return base === 'string' || base === 'bytes' || components.some((one) => isDynamic(one, one.type.length))
}

/** Depth of nested lists whose elements are pointers. Many pointers may refer to the same data. */
function pointerLists(input: AbiInput): number {
  const own = listsOf(input.type)[1].filter((_, at) => isDynamic(input, at)).length
  return own + Math.max(0, ...input.components.map(pointerLists))
}
