// What package.json beside this names: anvil as a process, viem and ethers as far as they are used here.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { missingIn, placeOf } from '../installed.ts'
import { type Program, runCommand } from '../kit/program.ts'

const PLACE = placeOf('evm')

/** Null, or why they are not there. */
export const installEvm = (): string | null => missingIn(PLACE, import.meta.dirname)

/** The first account that anvil makes of its well-known mnemonic. */
export const RICH_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const CHAIN_ID = 31_337

/** Starts a node on a free port. */
export async function startAnvil(): Promise<{ readonly url: string; readonly program: Program }> {
  const [binary] = globSync('node_modules/@foundry-rs/anvil-*/bin/anvil*', { cwd: PLACE })
  if (binary === undefined) throw new Error('there is no anvil for this machine')
  const program = runCommand(join(PLACE, binary), ['--port', '0', '--mnemonic', `${'test '.repeat(11)}junk`])
  const line = await program.line((each) => each.startsWith('Listening on '))
  return { url: `http://${line.slice('Listening on '.length)}`, program }
}

type Hex = `0x${string}`
interface Receipt {
  readonly status: unknown
  readonly blockNumber: bigint | number
  readonly contractAddress: Hex
}

export interface Viem {
  readonly http: (url: string, options: object) => object
  readonly createPublicClient: (options: object) => {
    getChainId(): Promise<number>
    getBlockNumber(options?: object): Promise<bigint>
    getBlock(
      options?: object,
    ): Promise<{ readonly hash: Hex; readonly number: bigint; readonly transactions: readonly unknown[] }>
    getBalance(options: object): Promise<bigint>
    getLogs(options?: object): Promise<readonly unknown[]>
    call(options: object): Promise<{ readonly data?: Hex }>
    waitForTransactionReceipt(options: object): Promise<Receipt>
    request(options: object): Promise<unknown>
  }
  readonly createWalletClient: (options: object) => { sendTransaction(options: object): Promise<Hex> }
  readonly defineChain: (chain: object) => object
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

const load = (path: string) => import(pathToFileURL(join(PLACE, 'node_modules', path)).href)

export const openViem = async (): Promise<Viem & { account: { readonly address: Hex } }> => {
  const [viem, accounts] = await Promise.all([load('viem/_esm/index.js'), load('viem/_esm/accounts/index.js')])
  return { ...viem, account: accounts.privateKeyToAccount(RICH_KEY) }
}
export const openEthers = (): Promise<Ethers> => load('ethers/lib.esm/index.js')
