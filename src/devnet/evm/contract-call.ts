// Calls of the chain's contracts: the token, and Multicall3 for reading the token several times at once.

import { decodeFunctionData, encodeFunctionResult, parseAbi } from 'viem/utils'
import type { EvmBlocks } from './blocks.ts'
import { Revert } from './evm-error.ts'
import { TOKEN } from './token.ts'
import { type Hex, readTokenCall, type TokenCall, type TokenState } from './token-call.ts'

/** The address that Multicall3 has on every chain, in lower case. */
export const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'
const MULTICALL_ABI = parseAbi([
  'function tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls) returns ((bool success, bytes returnData)[])',
])
const MAX_CALLS = 100

/** The token's state after a block. The block need not be visible yet. */
export const stateAt = (blocks: EvmBlocks, number: number): TokenState => ({
  timeS: blocks.timeS(number),
  supply: blocks.supply(number),
  balance: (address) => blocks.balance(address, number),
  isUsed: (authorizer, nonce) => blocks.isUsed(authorizer, nonce, number),
})

/** Reads a call. Addresses that are not contracts return nothing. `to`: in lower case. */
export async function readCall(to: string | null | undefined, input: Hex): Promise<TokenCall> {
  if (to === TOKEN) return readTokenCall(input)
  if (to === MULTICALL) return readMulticall(input)
  return () => ({ output: '0x', effects: [] })
}

async function readMulticall(input: Hex): Promise<TokenCall> {
  const [isStrict, calls] = multicallArguments(input)
  const read = await Promise.all(calls.map(({ target, callData }) => readCall(target.toLowerCase(), callData)))
  return (state) => {
    const results = read.map((call) => tryCall(call, state))
    if (isStrict && results.some(({ success }) => !success)) throw new Revert('Multicall3: call failed')
    return { output: encodeFunctionResult({ abi: MULTICALL_ABI, result: results }), effects: [] }
  }
}

function multicallArguments(input: Hex) {
  try {
    const { args } = decodeFunctionData({ abi: MULTICALL_ABI, data: input })
    // A call of itself could repeat forever.
    const isPlain = args[1].every(({ target }) => target.toLowerCase() !== MULTICALL)
    if (isPlain && args[1].length <= MAX_CALLS) return args
  } catch {
    // Not a call of this contract.
  }
  throw new Revert()
}

function tryCall(call: TokenCall, state: TokenState): { success: boolean; returnData: Hex } {
  try {
    return { success: true, returnData: call(state, MULTICALL).output }
  } catch (error) {
    if (error instanceof Revert) return { success: false, returnData: (error.data ?? '0x') as Hex }
    throw error
  }
}
