// Transactions from outside: what a node checks before it accepts one, and its effect. Invariants: a transaction is executed
// in the order of acceptance, in the next block; the same transaction is accepted once.

import { keccak256, parseTransaction, recoverAddress, serializeTransaction } from 'viem/utils'
import { EvmBlocks, GAS_PRICE, GAS_USED, hex, type Origin, transferTransaction, word } from './blocks.ts'
import { stateAt } from './contract-call.ts'
import { EvmError, Revert } from './evm-error.ts'
import type { Ledger, Transaction } from './ledger.ts'
import { CHAIN_ID, FAUCET, NOBODY, TOKEN } from './token.ts'
import { type Hex, readTokenCall, type TokenCall, type TokenState } from './token-call.ts'

/** The exchange that the chain follows, and the transactions that were submitted. */
export interface EvmNode {
  readonly origin: Origin
  readonly ledger: Ledger
}

/** A signed transaction without its effects. */
type Signed = Omit<Transaction, 'isReverted' | 'effects'>

/** Accepts a signed transaction and returns its hash. Throws an EvmError. */
export async function submit({ origin, ledger }: EvmNode, raw: Hex): Promise<Hex> {
  const signed = await readSigned(raw)
  const call = await readTokenCall(signed.input)
  // From here on nothing waits, so no other transaction comes between the checks and the effects.
  const blocks = new EvmBlocks(origin, ledger)
  if (ledger.find(signed.hash) !== null) throw new EvmError(-32000, 'already known')
  const nonce = blocks.nonce(signed.from, blocks.next)
  if (signed.nonce < nonce) throw new EvmError(-32000, `nonce too low: next nonce ${nonce}, tx nonce ${signed.nonce}`)
  if (signed.nonce > nonce) throw new EvmError(-32000, `nonce too high: next nonce ${nonce}, tx nonce ${signed.nonce}`)
  if (ledger.isFull) throw new EvmError(-32000, 'txpool is full')
  const outcome = execute(call, stateAt(blocks, blocks.next), signed.from)
  ledger.add({ block: blocks.next, transaction: { ...signed, ...outcome } })
  return signed.hash
}

function execute(call: TokenCall, state: TokenState, sender: Hex): Pick<Transaction, 'isReverted' | 'effects'> {
  try {
    return { isReverted: false, effects: [...call(state, sender).effects] }
  } catch (error) {
    if (error instanceof Revert) return { isReverted: true, effects: [] }
    throw error
  }
}

async function readSigned(raw: Hex): Promise<Signed> {
  const { r, s, yParity, v: _, ...unsigned } = parse(raw)
  const { chainId, to, value = 0n, data = '0x', nonce = 0, gas = 0n } = unsigned
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = unsigned
  if (chainId !== CHAIN_ID) throw new EvmError(-32000, `invalid chain id: have ${chainId}, want ${CHAIN_ID}`)
  if (to?.toLowerCase() !== TOKEN || value > 0n)
    throw new EvmError(-32000, `only calls of the token ${TOKEN} without value are accepted`)
  if (gas < GAS_USED) throw new EvmError(-32000, `intrinsic gas too low: gas ${gas}, minimum needed ${GAS_USED}`)
  if (maxFeePerGas < GAS_PRICE)
    throw new EvmError(-32000, `max fee per gas less than block base fee: ${maxFeePerGas}, base fee ${GAS_PRICE}`)
  return {
    hash: keccak256(raw),
    from: await senderOf(unsigned, { r, s, yParity }),
    nonce,
    to: TOKEN,
    input: data,
    gas: hex(gas),
    maxFeePerGas: hex(maxFeePerGas),
    maxPriorityFeePerGas: hex(maxPriorityFeePerGas),
    yParity: hex(yParity),
    r,
    s,
  }
}

const INVALID = 'not a signed EIP-1559 transaction'

function parse(raw: Hex) {
  try {
    const parsed = parseTransaction(raw as `0x02${string}`)
    const { r, s, yParity } = parsed
    if (parsed.type === 'eip1559' && r !== undefined && s !== undefined && yParity !== undefined)
      return { ...parsed, r, s, yParity }
  } catch {
    // The error says the same.
  }
  throw new EvmError(-32000, INVALID)
}

async function senderOf(
  unsigned: Parameters<typeof serializeTransaction>[0],
  signature: { readonly r: Hex; readonly s: Hex; readonly yParity: number },
): Promise<Hex> {
  try {
    const hash = keccak256(serializeTransaction(unsigned))
    return (await recoverAddress({ hash, signature })).toLowerCase() as Hex
  } catch {
    throw new EvmError(-32000, INVALID)
  }
}

/** Mints an amount for an address in the next block, as the first transaction that is submitted. */
export function fund({ origin, ledger }: EvmNode, to: Hex, value: bigint): void {
  if (!ledger.isEmpty) return
  const hash: Hex = `0x${word(BigInt(FAUCET))}`
  const mint = { sender: FAUCET, nonce: 0, from: NOBODY, to: to.toLowerCase() as Hex, value }
  const transaction = transferTransaction(mint, hash, hash)
  ledger.add({ block: new EvmBlocks(origin, ledger).next, transaction })
}
