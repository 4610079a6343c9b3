// Calls of the token, with the errors of USDC: ERC-20 without allowances, and ERC-3009 for wallets with a key. Reading a
// call checks its signature and nothing else. Invariant: a call that reverts changes nothing.

import { decodeFunctionData, encodeFunctionResult, hashTypedData, parseAbi, recoverAddress } from 'viem/utils'
import { Revert } from './evm-error.ts'
import type { Effect } from './ledger.ts'
import { CHAIN_ID, DECIMALS, NAME, NOBODY, SYMBOL, TOKEN, VERSION } from './token.ts'

export type Hex = `0x${string}`

const AUTHORIZATION =
  'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce' as const
const ABI = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  `function transferWithAuthorization(${AUTHORIZATION}, uint8 v, bytes32 r, bytes32 s)`,
  `function transferWithAuthorization(${AUTHORIZATION}, bytes signature)`,
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
])

const DOMAIN = { name: NAME, version: VERSION, chainId: CHAIN_ID, verifyingContract: TOKEN }
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
/** Half of the order of secp256k1: signatures with a larger `s` are rejected, because each has a smaller twin. */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The token's state at one block. Addresses and nonces are in lower case. */
export interface TokenState {
  /** Time of the block, in seconds since 1970. */
  readonly timeS: number
  readonly supply: bigint
  balance(address: string): bigint
  /** True if the authorization was used or canceled. */
  isUsed(authorizer: string, nonce: string): boolean
}

/** Runs a call. Throws a Revert. `sender`: the caller, in lower case. */
export type TokenCall = (
  state: TokenState,
  sender: Hex,
) => { readonly output: Hex; readonly effects: readonly Effect[] }

/** Reads a call from its input. An input that the token does not know reverts when it runs. */
export async function readTokenCall(input: Hex): Promise<TokenCall> {
  const call = decode(input)
  if (call === null)
    return () => {
      throw new Revert()
    }
  switch (call.functionName) {
    case 'transferWithAuthorization':
      return authorizedTransfer(call.args)
    case 'cancelAuthorization':
      return cancellation(call.args)
    case 'transfer': {
      const [to, value] = call.args
      return (state, sender) => ({
        output: encodeFunctionResult({ abi: ABI, functionName: 'transfer', result: true }),
        effects: [transfer(state, sender, lower(to), value)],
      })
    }
    default:
      return (state) => ({ output: view(call, state), effects: [] })
  }
}

type Call = NonNullable<ReturnType<typeof decode>>
type Args<Name> = Extract<Call, { functionName: Name }>['args']

function decode(input: Hex) {
  try {
    return decodeFunctionData({ abi: ABI, data: input })
  } catch {
    return null
  }
}

function view(call: Call, state: TokenState): Hex {
  const result = (functionName: string, value: unknown) =>
    encodeFunctionResult({ abi: ABI, functionName, result: value } as never)
  switch (call.functionName) {
    case 'name':
      return result(call.functionName, NAME)
    case 'version':
      return result(call.functionName, VERSION)
    case 'symbol':
      return result(call.functionName, SYMBOL)
    case 'decimals':
      return result(call.functionName, DECIMALS)
    case 'totalSupply':
      return result(call.functionName, state.supply)
    case 'balanceOf':
      return result(call.functionName, state.balance(lower(call.args[0])))
    case 'authorizationState':
      return result(call.functionName, state.isUsed(lower(call.args[0]), call.args[1]))
    default:
      throw new Revert()
  }
}

async function authorizedTransfer(args: Args<'transferWithAuthorization'>): Promise<TokenCall> {
  const [from, to, value, validAfter, validBefore, nonce, ...signature] = args
  const message = { from, to, value, validAfter, validBefore, nonce }
  const hash = hashTypedData({ domain: DOMAIN, types: TYPES, primaryType: 'TransferWithAuthorization', message })
  const check = await signatureCheck(hash, signature, from)
  const authorizer = lower(from)
  return (state) => {
    if (BigInt(state.timeS) <= validAfter) throw new Revert('FiatTokenV2: authorization is not yet valid')
    if (BigInt(state.timeS) >= validBefore) throw new Revert('FiatTokenV2: authorization is expired')
    requireUnused(state, authorizer, nonce)
    check()
    const used = { kind: 'used', authorizer, nonce } as const
    return { output: '0x', effects: [used, transfer(state, authorizer, lower(to), value)] }
  }
}

async function cancellation(args: Args<'cancelAuthorization'>): Promise<TokenCall> {
  const [authorizer, nonce, ...signature] = args
  const message = { authorizer, nonce }
  const hash = hashTypedData({ domain: DOMAIN, types: TYPES, primaryType: 'CancelAuthorization', message })
  const check = await signatureCheck(hash, signature, authorizer)
  return (state) => {
    requireUnused(state, lower(authorizer), nonce)
    check()
    return { output: '0x', effects: [{ kind: 'canceled', authorizer: lower(authorizer), nonce }] }
  }
}

function transfer(state: TokenState, from: Hex, to: Hex, value: bigint): Effect {
  if (to === NOBODY) throw new Revert('ERC20: transfer to the zero address')
  if (state.balance(from) < value) throw new Revert('ERC20: transfer amount exceeds balance')
  return { kind: 'transfer', from, to, value }
}

function requireUnused(state: TokenState, authorizer: Hex, nonce: Hex): void {
  if (state.isUsed(authorizer, nonce)) throw new Revert('FiatTokenV2: authorization is used or canceled')
}

type Signature = readonly [v: number, r: Hex, s: Hex] | readonly [bytes: Hex]

/** Returns a function that reverts unless `signer` signed the hash. */
async function signatureCheck(hash: Hex, signature: Signature, signer: Hex): Promise<() => void> {
  const fault = await signatureFault(hash, signature, signer)
  return () => {
    if (fault !== null) throw new Revert(fault)
  }
}

async function signatureFault(hash: Hex, signature: Signature, signer: Hex): Promise<string | null> {
  if (signature.length === 1 && signature[0].length !== 2 + 65 * 2) return 'ECRecover: invalid signature length'
  const [v, r, s] = signature.length === 1 ? split(signature[0]) : signature
  if (BigInt(s) > MAX_S) return "ECRecover: invalid signature 's' value"
  if (v !== 27 && v !== 28) return "ECRecover: invalid signature 'v' value"
  try {
    const recovered = await recoverAddress({ hash, signature: { r, s, v: BigInt(v) } })
    return lower(recovered) === lower(signer) ? null : 'FiatTokenV2: invalid signature'
  } catch {
    return 'ECRecover: invalid signature'
  }
}

const split = (bytes: Hex): readonly [number, Hex, Hex] => [
  Number.parseInt(bytes.slice(130), 16),
  `0x${bytes.slice(2, 66)}`,
  `0x${bytes.slice(66, 130)}`,
]

const lower = (address: Hex) => address.toLowerCase() as Hex
