// What package.json beside this names: anvil as a process, and ethers as far as it is used here; and viem, a package of Weir.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createPublicClient, createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { missingIn, placeOf } from '../installed.ts'
import { type Program, runCommand } from '../kit/program.ts'

const PLACE = placeOf('evm')

/** Null, or why they are not there. */
export const installEvm = (): string | null => missingIn(PLACE, import.meta.dirname)

/** The first account that anvil makes of its well-known mnemonic. */
export const RICH_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const ACCOUNT = privateKeyToAccount(RICH_KEY)
export const CHAIN_ID = 31_337

/** Starts a node on a free port. */
export async function startAnvil(): Promise<{ readonly url: string; readonly program: Program }> {
  const [binary] = globSync('node_modules/@foundry-rs/anvil-*/bin/anvil*', { cwd: PLACE })
  if (binary === undefined) throw new Error('there is no anvil for this machine')
  const program = runCommand(join(PLACE, binary), ['--port', '0', '--mnemonic', `${'test '.repeat(11)}junk`])
  const line = await program.line((each) => each.startsWith('Listening on '))
  return { url: `http://${line.slice('Listening on '.length)}`, program }
}

/** viem's clients of a chain at `url`, with batches on. */
export function openViem(url: string, headers: Record<string, string> = {}) {
  const chain = defineChain({
    id: CHAIN_ID,
    name: 'anvil',
    rpcUrls: { default: { http: [url] } },
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  })
  const transport = http(url, { batch: true, fetchOptions: { headers } })
  return {
    client: createPublicClient({ chain, transport, pollingInterval: 50 }),
    wallet: createWalletClient({ account: ACCOUNT, chain, transport }),
  }
}

interface Receipt {
  readonly status: number
  readonly blockNumber: number
}

export interface Ethers {
  readonly FetchRequest: new (url: string) => { setHeader(name: string, value: string): void }
  readonly JsonRpcProvider: new (
    url: object,
    network?: unknown,
    options?: object,
  ) => {
    getNetwork(): Promise<{ readonly chainId: bigint }>
    getBlockNumber(): Promise<number>
    getBlock(tag: unknown): Promise<{ readonly hash: string } | null>
    getBalance(address: string): Promise<bigint>
    getTransactionReceipt(hash: string): Promise<Receipt | null>
    destroy(): void
  }
  readonly Wallet: new (
    key: string,
    provider: object,
  ) => {
    readonly address: string
    sendTransaction(options: object): Promise<{ readonly hash: string; wait(): Promise<Receipt> }>
  }
}

export const openEthers = (): Promise<Ethers> =>
  import(pathToFileURL(join(PLACE, 'node_modules/ethers/lib.esm/index.js')).href)
