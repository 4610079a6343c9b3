// Wallets on the simulated chain that pay by x402, and what the chain shows of it.

import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { createPublicClient, createWalletClient, defineChain, erc20Abi, http, parseAbi } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { CHAIN_ID, SELLER, TOKEN } from '../../src/devnet/evm/token.ts'
import { DEFAULT_SEED, simulatedKey } from '../../src/devnet/simulated-keys.node.ts'
import type { Gateway } from './gateway.ts'
import { until } from './until.ts'

const CONTRACT = { address: TOKEN, abi: erc20Abi } as const
const EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
/** Most blocks that devnet searches at once. */
const RANGE = 10_000n
const FUNDED = { withinMs: 60_000, everyMs: 100 }

/** A transfer to the seller. */
export interface ChainPayment {
  /** In lower case. */
  readonly from: string
  /** Of its authorization. */
  readonly nonce: string
  readonly value: bigint
}

/** A client of x402 with this wallet, for any package that takes one. */
export const clientOf = (account: PrivateKeyAccount) =>
  new x402Client().register('eip155:*', new ExactEvmScheme(account)).setSpendControls({ allowedAssets: true })

/** `@x402/fetch`, unmodified. `sent`: sees each request, also the one with the payment. */
export function payingFetch(account: PrivateKeyAccount, sent: (request: Request) => void = () => {}) {
  const seeing: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    sent(request)
    return fetch(request)
  }
  return wrapFetchWithPayment(seeing, clientOf(account))
}

/** The chain of a devnet with the default seed. `node`: its origin. */
export function openChain(node: string) {
  const chain = defineChain({
    id: CHAIN_ID,
    name: 'devnet',
    nativeCurrency: { name: 'coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [`${node}/evm`] } },
  })
  const client = createPublicClient({ chain, transport: http(), pollingInterval: 100, cacheTime: 0 })
  const demo = privateKeyToAccount(simulatedKey(DEFAULT_SEED, 'demo'))
  const wallet = createWalletClient({ account: demo, chain, transport: http() })
  const balance = (of: `0x${string}`) =>
    client.readContract({ ...CONTRACT, functionName: 'balanceOf', args: [of] }) as Promise<bigint>
  return {
    client,
    demo,
    /** New wallets with this many atomic units each, from the demo wallet. */
    async fund(count: number, value: bigint): Promise<PrivateKeyAccount[]> {
      await until(async () => (await balance(demo.address)) > 0n, 'the demo wallet has no tokens', FUNDED)
      const accounts = Array.from({ length: count }, () => privateKeyToAccount(generatePrivateKey()))
      let last: `0x${string}` | null = null
      for (const { address } of accounts)
        last = await wallet.writeContract({ ...CONTRACT, functionName: 'transfer', args: [address, value] })
      if (last !== null) await client.waitForTransactionReceipt({ hash: last })
      return accounts
    },
    balance,
    /** Atomic units that the seller has received. */
    earned: () => balance(SELLER),
    /** All authorized transfers to the seller, oldest first. */
    async payments(): Promise<ChainPayment[]> {
      const head = await client.getBlockNumber()
      const logs = []
      for (let fromBlock = 0n; fromBlock <= head; fromBlock += RANGE) {
        const toBlock = fromBlock + RANGE - 1n < head ? fromBlock + RANGE - 1n : head
        logs.push(...(await client.getLogs({ address: TOKEN, events: EVENTS, strict: true, fromBlock, toBlock })))
      }
      const nonces = new Map(
        logs.flatMap((log) =>
          log.eventName === 'AuthorizationUsed' ? [[log.transactionHash, log.args.nonce] as const] : [],
        ),
      )
      return logs.flatMap((log) => {
        if (log.eventName !== 'Transfer' || log.args.to.toLowerCase() !== SELLER) return []
        const { from, value } = log.args
        return [{ from: from.toLowerCase(), nonce: nonces.get(log.transactionHash) ?? '', value }]
      })
    },
  }
}

export interface PaidOrder {
  readonly account: string
  /** In atomic units of the token. */
  readonly minor: bigint
  readonly credits: string
}

/** All orders that were paid by x402. */
export async function paidOrders(gateway: Gateway): Promise<PaidOrder[]> {
  const orders: PaidOrder[] = []
  for (let next: string | null = ''; next !== null; ) {
    const path = `/orders?provider=x402&state=paid${next && `&before=${next}`}`
    const page: OrderPage = await gateway.ask<OrderPage>('GET', path)
    orders.push(...page.orders.map(({ amount, ...order }) => ({ ...order, minor: BigInt(amount.replace('.', '')) })))
    next = page.next
  }
  return orders
}

interface OrderPage {
  readonly orders: readonly (Omit<PaidOrder, 'minor'> & {
    /** With all decimals of the currency. */
    readonly amount: string
  })[]
  readonly next: string | null
}
