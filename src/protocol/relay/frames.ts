// Frames that go down to a client beside those of channels, which their own files write.
// Law: a text is built once and the same string goes to every socket that gets it.

import { formatCredits } from '../../core/amount.ts'

/** Longest echo in an error: real frames are far shorter, 1,000 addresses are not worth 90 KB. */
export const ECHO_CHARS = 4096

export const PONG = '{"channel":"pong"}'

/** The next ping returns the nonce, as a proof of reading. `height`: of the last block before it; -1: none yet. */
export function pongFrame(nonce: string, height: number): string {
  return `{"channel":"pong","nonce":"${nonce}"${height < 0 ? '' : `,"block_height":${height}`}}`
}

/** `code` is a FailureCode or one of the stream's own (`already_subscribed`, `replay_unavailable`, `gap`, …). */
export function errorFrame(text: string, code: string): string {
  return `{"channel":"error","data":${JSON.stringify(text)},"code":${JSON.stringify(code)}}`
}

/** The first warning before the end: no error, so it comes on the public server's channel for remarks. Micro-credits. */
export function lowCreditsFrame(left: number): string {
  return notificationFrame(
    `Credits run low: ${formatCredits(left)} remain, a tenth or less of what the account had. Top up the account.`,
  )
}

/** The second and last one. */
export function lastMinuteFrame(nextMinute: number, remaining: number): string {
  const next = `the next minute of all subscriptions costs ${formatCredits(nextMinute)}, ${formatCredits(remaining)} remain`
  return notificationFrame(`Credits run low: ${next}. Top up the account, or this connection closes with its end.`)
}

/** To who waits for its turn to be given books. */
export function waitingFrame(type: string, waitedMs: number): string {
  const since = `since ${Math.round(waitedMs / 1000)} s, uncharged: many ask for whole books`
  return notificationFrame(`A subscription to ${type} waits for its turn ${since}.`)
}

/** To who was charged and waits for a Snapshot. */
export function waitingForSnapshot(type: string, waitedMs: number): string {
  const since = `since ${Math.round(waitedMs / 1000)} s: its minute stands still until then`
  return notificationFrame(`A subscription to ${type} waits for its Snapshot ${since}.`)
}

/** No block has come for so long. */
export function staleFrame(ms: number): string {
  return notificationFrame(
    `No block has come for ${Math.round(ms / 1000)} s: what was sent last is what is known.`,
    'stale',
  )
}
export const FRESH_FRAME = notificationFrame('Blocks come again.', 'fresh')

/** A remark, on the public server’s channel for remarks. `code` tells a program. */
export function notificationFrame(text: string, code?: 'stale' | 'fresh' | 'ignored_field'): string {
  return JSON.stringify({ channel: 'notification', data: { notification: text }, code })
}

/** `echo` is JSON of the subscription as sent. */
export function ackFrame(method: 'subscribe' | 'unsubscribe', echo: string): string {
  return `{"channel":"subscriptionResponse","data":{"method":"${method}","subscription":${echo}}}`
}

/** `reason` names the field and the fix: it follows the JSON, which SDKs look for. */
export function invalidSubscription(echo: string, reason: string, code = 'invalid_request'): string {
  return errorFrame(`Invalid subscription${bounded(' ', echo)}: ${reason}`, code)
}

export function alreadySubscribed(echo: string): string {
  return errorFrame(`Already subscribed${bounded(': ', echo)}`, 'already_subscribed')
}

export function alreadyUnsubscribed(echo: string): string {
  return errorFrame(`Already unsubscribed${bounded(': ', echo)}`, 'already_unsubscribed')
}

/**
 * Answers a frame that is no request, in the public server's words. `reason` names the field and the fix; `postId` is the
 * `id` of a `post` that could be read: SDKs find by it, at the very end, what they wait for.
 */
export function invalidRequest(sent: string, reason: string, code: string, postId: number | null): string {
  const echo = bounded(': ', sent)
  const end = echo === '' && postId !== null ? `: id=${postId}` : ''
  return errorFrame(`Error parsing JSON into valid websocket request${echo}: ${reason}${end}`, code)
}

export function missingBlocks(from: number, to: number): string {
  return `Blocks ${from} to ${to} never came: their events are missing.`
}

/** `fromBlock` cannot be served; `why` says which block, and what is the matter. */
export function replayUnavailable(echo: string, why: string): string {
  return errorFrame(`Not replayed${bounded(': ', echo)}: fromBlock: ${why}; live data follows.`, 'replay_unavailable')
}

/** What becomes of a replay; `echo` is JSON of its body as sent. */
export function replayFrame(echo: string, event: string, more: Readonly<Record<string, number>> = {}): string {
  const fields = Object.entries(more).map(([name, value]) => `,"${name}":${value}`)
  return `{"channel":"replay","data":{"event":"${event}","subscription":${echo}${fields.join('')}}}`
}

/** Whole or not at all: SDKs parse what stands in braces, and die of half an object. */
function bounded(before: string, echo: string): string {
  return echo.length > ECHO_CHARS ? '' : before + echo
}

/** `body` is the JSON text of an info answer, embedded as it is. */
export function postFrame(id: number, type: string, body: string): string {
  return `{"channel":"post","data":{"id":${id},"response":{"type":"info","payload":{"type":${JSON.stringify(type)},"data":${body}}}}}`
}

export function postErrorFrame(id: number, text: string): string {
  return `{"channel":"post","data":{"id":${id},"response":{"type":"error","payload":${JSON.stringify(text)}}}}`
}
