// `weir pay BODY | credits USD | key`: a wallet pays by x402, without an account. Invariants: only the answer or a key
// goes to standard output; the demo wallet pays only the running `npx weir demo`; no more than the limit is paid.

import type { Command } from '@commander-js/extra-typings'
import * as z from 'zod'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { parseJson } from '../core/json.ts'
import { err, ok, type Result } from '../core/result.ts'
import type { PaidResponse, PayingWallet } from './paying-wallet.node.ts'
import { DEFAULT_STATE, readRunning } from './running-file.node.ts'
import { type Shell, weirProgram } from './shell.node.ts'
import { UrlValue } from './values.ts'

/** Most that a call may cost by default. */
const CALL_MAX_USD = '0.10'
const TIMEOUT_MS = 60_000
/** All dollar tokens have six decimals. */
const DECIMALS = 6

const UsdValue = z
  .string()
  .regex(/^\d{1,9}(?:\.\d{1,6})?$/, 'must be an amount of US dollars such as 5 or 0.25')
  .refine((text) => Number(text) > 0, 'must be more than 0')
const UNKNOWN = "Nothing is known to be paid. If the payment succeeds later, its credits are in the wallet's account."
const WalletKey = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)])

const CreditsBody = z.object({ credits: z.string(), key: z.string().nullable(), hint: z.string().optional() })
const KeyBody = z.object({ key: z.string() })
const OffersBody = z.object({ networks: z.array(z.object({ network: z.string().regex(/^eip155:\d+$/) })).min(1) })

interface Options {
  readonly url?: string
  readonly maxUsd?: string
  readonly state: string
}

interface Payer {
  readonly url: string
  readonly wallet: PayingWallet
  readonly maxUsd: string | undefined
}

/** Output of a command: `text` for standard output, notes for standard error. */
interface Outcome {
  readonly text: string
  readonly notes: readonly string[]
  readonly isFailure?: boolean
}

/** The program, on a shell. */
export function payProgram(shell: Shell): Command {
  const pay = weirProgram('pay', [`'{"type":"l2Book","coin":"BTC"}'`, 'credits 5'])
    .option('--url <url>', 'gateway URL (default: the running "npx weir demo")', valueParser(UrlValue))
    .option(
      '--max-usd <usd>',
      `most to pay, in US dollars (default: ${CALL_MAX_USD} for a call, the amount for credits)`,
      valueParser(UsdValue),
    )
    .option('--state <dir>', 'state folder of "npx weir demo"', DEFAULT_STATE)
  const run =
    <Args extends unknown[]>(act: (payer: Payer, ...args: Args) => Promise<Outcome>) =>
    (...args: Args) =>
      report(shell, async () => {
        const payer = await payerOf(pay.opts(), shell)
        return payer.ok ? act(payer.value, ...args) : failure(payer.error)
      })
  describeCommand(pay.command('call', { isDefault: true }), 'pay for one request to /info, and print its answer', [
    `'{"type":"l2Book","coin":"BTC"}'`,
  ])
    .argument('<body>', 'JSON body of the request')
    .action(run((payer, body: string) => call(payer, body)))
  describeCommand(pay.command('credits'), 'buy credits, and print the API key of a new account', ['5'])
    .argument('<usd>', 'amount in US dollars', valueParser(UsdValue))
    .action(run((payer, usd: string) => credits(payer, usd)))
  describeCommand(pay.command('key'), "replace the API key of the wallet's account, and print the new one", [
    '',
  ]).action(run((payer) => key(payer, shell.now())))
  return pay as Command
}

async function report(shell: Shell, act: () => Promise<Outcome>): Promise<void> {
  const { text, notes, isFailure = false } = await act().catch((error: Error) => failure(error.message))
  if (text !== '') shell.print(text)
  for (const note of notes) shell.note(note)
  if (isFailure) shell.fail()
}

const failure = (note: string): Outcome => ({ text: '', notes: [note], isFailure: true })

async function payerOf({ url, maxUsd, state }: Options, shell: Shell): Promise<Result<Payer, string>> {
  const dev = url === undefined ? readRunning(state, '--url, with WALLET_KEY in the environment') : null
  if (dev?.ok === false) return dev
  const secret = shell.env.WALLET_KEY || dev?.value.wallet_key
  if (secret === undefined)
    return err('This gateway needs a wallet. Set WALLET_KEY in the environment to its private key.')
  const parsed = WalletKey.safeParse(secret)
  if (!parsed.success) return err('WALLET_KEY must be a private key: "0x" and 64 hex digits.')
  const { PayingWallet } = await import('./paying-wallet.node.ts')
  const wallet = new PayingWallet(parsed.data, (ms) => shell.wait(ms))
  return ok({ url: (url ?? dev?.value.url ?? '').replace(/\/$/, ''), wallet, maxUsd })
}

async function call({ url, wallet, maxUsd = CALL_MAX_USD }: Payer, body: string): Promise<Outcome> {
  if (parseJson(body) === undefined) return failure('The body is not JSON. Quote it: \'{"type":"allMids"}\'')
  const paid = await wallet.fetch(`${url}/info`, request(body), maxUsd)
  return { text: await paid.response.text(), notes: [receiptText(paid)], isFailure: !paid.response.ok }
}

async function credits({ url, wallet, maxUsd }: Payer, usd: string): Promise<Outcome> {
  const paid = await wallet.fetch(`${url}/x402/credits?usd=${usd}`, request(), maxUsd ?? usd)
  const body = await paid.response.text()
  const bought = CreditsBody.safeParse(parseJson(body))
  if (!paid.response.ok || !bought.success) return failure(`${body}\n${receiptText(paid)}`)
  const { credits, key, hint = '' } = bought.data
  return {
    text: key ?? '',
    notes: [
      `${credits} credits. ${receiptText(paid)}`,
      ...(key === null ? [`${hint} Or use "npx weir pay key".`] : []),
    ],
  }
}

async function key({ url, wallet }: Payer, nowMs: number): Promise<Outcome> {
  const offers = OffersBody.safeParse(await (await fetch(`${url}/x402`, timeLimit())).json())
  if (!offers.success) return failure(`${url} takes no payments by x402.`)
  const signed = await wallet.signIn(url, offers.data.networks[0]?.network ?? '', nowMs)
  const response = await fetch(`${url}/x402/key`, request(JSON.stringify(signed)))
  const body = await response.text()
  const issued = KeyBody.safeParse(parseJson(body))
  return response.ok && issued.success ? { text: issued.data.key, notes: [] } : failure(body)
}

const timeLimit = () => ({ signal: AbortSignal.timeout(TIMEOUT_MS) })

const request = (body?: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  ...(body !== undefined && { body }),
  ...timeLimit(),
})

function receiptText({ response, receipt }: PaidResponse): string {
  if (receipt === null) return response.status < 500 ? 'Nothing was paid.' : UNKNOWN
  const { amount, asset, network, transaction } = receipt
  const digits = amount.padStart(DECIMALS + 1, '0')
  const usd = `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/(\.\d\d\d*?)0+$/, '$1')
  return `Paid ${usd} ${asset} on ${network}: transaction ${transaction}`
}
