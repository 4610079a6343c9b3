// Wallets pay `npm start` by x402, for calls and for credits, while workerd, the gateway's process group and devnet with the
// facilitator are killed. Then waits for the books, and throws if the chain, the orders and the meters do not agree.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { Gateway } from '../kit/gateway.ts'
import { lastingPort, run, scratch } from '../kit/program.ts'
import { seededRandom } from '../kit/random.ts'
import { type ChainPayment, openChain, paidOrders, payingFetch } from '../kit/wallets.ts'
import { accountOf, type PaymentEvidence, paymentViolations } from './payment-laws.ts'

export interface PaymentOrder {
  readonly minutes: number
  readonly seed: number
  readonly say: (line: string) => void
}

const WALLETS = 16
const MONEY = 1_000_000_000n
/** Every n-th payment buys credits. */
const CREDITS_EVERY = 10
const KILL_MS = [3_000, 12_000] as const
/** Payments without an answer are booked after ten minutes. */
const BOOKED_WITHIN_MS = 20 * 60_000
const REPEATS = 40
const REPEAT_MS = 1_500

const CALLS = [
  ['/info', { type: 'l2Book', coin: 'BTC' }],
  ['/info', { type: 'l2Book', coin: 'ETH' }],
  ['/info', { type: 'allMids' }],
  ['/v1/hyperliquid', { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }],
] as const
const TARGETS = ['workerd', 'gateway', 'devnet'] as const

interface Ready {
  readonly url: string
  readonly admin_token: string
  readonly pids: Readonly<Record<'gateway' | 'devnet', number>> & { readonly workerd?: number }
}

interface Attempt {
  readonly payment: ChainPayment
  readonly isCall: boolean
  isAnswered: boolean
}

/** Returns what happened, in words. */
export async function paymentRun({ minutes, seed, say }: PaymentOrder): Promise<string> {
  const random = seededRandom(seed)
  const folder = scratch()
  const state = join(folder.path, 'state')
  const start = run('demo', ['--json', '--state', state], { PORT: String(lastingPort()) })
  try {
    const { url, admin_token: token } = JSON.parse(await start.line((line) => line.startsWith('{'))) as Ready
    const { devnet } = JSON.parse(readFileSync(join(state, 'ports.json'), 'utf8')) as { readonly devnet: number }
    const chain = openChain(`http://127.0.0.1:${devnet}`)
    const wallets = await chain.fund(WALLETS, MONEY)
    const attempts: Attempt[] = []
    const endMs = Date.now() + minutes * 60_000
    const load = wallets.map(async (wallet) => {
      for (let number = 1; Date.now() < endMs; number++)
        await pay(url, wallet, number % CREDITS_EVERY === 0 ? null : Math.floor(random() * CALLS.length), attempts)
    })
    let kills = 0
    while (Date.now() < endMs) {
      await sleep(KILL_MS[0] + random() * (KILL_MS[1] - KILL_MS[0]))
      const { pids } = JSON.parse(readFileSync(join(state, 'running.json'), 'utf8')) as Ready
      const target = TARGETS[Math.floor(random() * TARGETS.length)]!
      if (kill(target, pids)) kills++
      if (kills % 10 === 0) say(`${kills} kills, ${attempts.length} payments, ${answered(attempts).length} answered`)
    }
    await Promise.all(load)
    say(`${kills} kills, ${attempts.length} payments; waiting for the books`)
    const gateway = new Gateway(url, token)
    const evidence = () => collect(gateway, chain, attempts)
    await settled(evidence, say)
    const sums = await evidence()
    const total = sums.chain.reduce((all, { value }) => all + value, 0n)
    return `seed ${seed}: all laws hold
  kills        ${kills}
  payments     ${attempts.length} signed, ${sums.chain.length} on the chain, ${total} units
  orders       ${sums.orders.length}, the same sum
  answered     ${sums.answered.length} calls, each paid once`
  } finally {
    await start.end('SIGINT')
    folder.remove()
  }
}

const answered = (attempts: readonly Attempt[]) =>
  attempts.filter(({ isCall, isAnswered }) => isCall && isAnswered).map(({ payment }) => payment)

function kill(target: (typeof TARGETS)[number], { gateway, devnet, workerd }: Ready['pids']): boolean {
  try {
    if (target === 'workerd' && workerd === undefined) return false
    process.kill(target === 'workerd' ? workerd! : target === 'gateway' ? -gateway : devnet, 'SIGKILL')
    return true
  } catch {
    // It is just restarting.
    return false
  }
}

type Wallet = Parameters<typeof payingFetch>[0]

/** Pays once, and repeats the request with the same payment until its outcome is known. `call`: null for credits. */
async function pay(url: string, wallet: Wallet, call: number | null, attempts: Attempt[]): Promise<void> {
  const [path, body] = call === null ? ['/x402/credits?usd=1', ''] : CALLS[call]!
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json' }
  let signed: { readonly header: string; readonly attempt: Attempt } | null = null
  const seen = ({ headers }: Request) => {
    const header = headers.get('payment-signature')
    if (header === null) return
    const attempt = { payment: paymentOf(header), isCall: call !== null, isAnswered: false }
    attempts.push(attempt)
    signed = { header, attempt }
  }
  const isAnswered = async (response: Response) => {
    // Counted only once complete: a truncated answer gives the payer nothing.
    await response.arrayBuffer()
    return response.ok
  }
  try {
    const response = await payingFetch(wallet, seen)(url + path, { method: 'POST', headers, body: text })
    if (signed !== null) (signed as { attempt: Attempt }).attempt.isAnswered = await isAnswered(response)
  } catch {
    await sleep(50)
  }
  if (signed === null) return
  const { header, attempt } = signed as { readonly header: string; readonly attempt: Attempt }
  for (let repeats = 0; !attempt.isAnswered && repeats < REPEATS; repeats++) {
    await sleep(REPEAT_MS)
    try {
      const again = { method: 'POST', headers: { ...headers, 'payment-signature': header }, body: text }
      attempt.isAnswered = await isAnswered(await fetch(url + path, again))
    } catch {
      // The gateway restarts.
    }
  }
}

function paymentOf(header: string): ChainPayment {
  const { payload } = decodePaymentSignatureHeader(header)
  const { from, nonce, value } = payload.authorization as Record<'from' | 'nonce' | 'value', string>
  return { from: from.toLowerCase(), nonce, value: BigInt(value) }
}

/** Evidence of the chain, the books and the meters. */
async function collect(
  gateway: Gateway,
  chain: ReturnType<typeof openChain>,
  attempts: readonly Attempt[],
): Promise<PaymentEvidence> {
  const payments = await chain.payments()
  const orders = await paidOrders(gateway)
  const accounts = [...new Set(payments.map(({ from }) => accountOf(from)))]
  const meters = await Promise.all(
    accounts.map(async (account) => {
      const shown = await gateway.ask<Record<'granted' | 'spent' | 'balance', string>>('GET', `/accounts/${account}`)
      return { account, granted: micro(shown.granted), spent: micro(shown.spent), left: micro(shown.balance) }
    }),
  )
  const called = attempts.filter(({ isCall }) => isCall).map(({ payment }) => payment)
  return {
    chain: payments,
    orders: orders.map(({ account, minor, credits }) => ({ account, minor, micro: micro(credits) })),
    meters,
    answered: answered(attempts),
    called,
  }
}

/** Credits with up to six decimals, as micro-credits. */
function micro(credits: string): bigint {
  const [whole = '0', fraction = ''] = credits.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

/** Waits until the laws hold. Throws what is still violated at the end. */
async function settled(evidence: () => Promise<PaymentEvidence>, say: (line: string) => void): Promise<void> {
  let violations: readonly string[] = []
  for (const endMs = Date.now() + BOOKED_WITHIN_MS; Date.now() < endMs; await sleep(5_000)) {
    violations = paymentViolations(await evidence())
    if (violations.length === 0) return
    say(`not yet: ${violations[0]}`)
  }
  throw new Error(violations.join('\n'))
}
